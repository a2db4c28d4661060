// The page: hands files and settings to the worker, and shows what comes back.

import { Camera } from './camera.js';
import { LARGEST, extensionOf, grouped, isPart, mainOf, ofDrop, ofInput, unpacked } from './files.js';
import { MeshPicture, rulerOf, turnAxes } from './mesh.js';
import * as settings from './settings.js';

const $ = (id) => document.getElementById(id);
const form = $('settings');
const canvas = $('canvas');
const camera = new Camera(canvas);
/**
 * `model` is the one to compute, `shown` what is shown: its model, the report, a copy of the grid that outlives the
 * worker, and the settings that it was made with.
 */
const state = { model: null, shown: null, formats: null, job: 0, view: 0, isComputing: false, isPicking: false, tried: null };

// --- The worker. WebAssembly does not listen while it computes: to end a computation ends the worker.

/**
 * A blob has the page's content policy; the file itself has only what is sent with it. The offline worker sends the
 * policy, and in Firefox does not answer a blob.
 */
const BLOB = URL.createObjectURL(new Blob([`import ${JSON.stringify(new URL('worker.js', import.meta.url))}`], { type: 'text/javascript' }));
let worker;
let pending;
let workerReady;
let lastId = 0;
let lastKey = 0;

/** A new worker is given the grid that is shown. */
function startWorker() {
  worker?.terminate();
  for (const { reject } of pending?.values() ?? []) reject(new Cancelled());
  pending = new Map();
  state.isPicking = false;
  worker = new Worker(navigator.serviceWorker?.controller ? 'worker.js' : BLOB, { type: 'module' });
  workerReady = request('ready', {}, 'ready');
  workerReady.then(showFormats, () => {});
  worker.onmessage = ({ data }) => messages[data.type](data);
  worker.onerror = (event) => messages.failed({ message: event.message || 'the worker did not start', fatal: true });
  if (state.shown?.kept) restore(state.shown); else dropResult();
}

function showFormats({ formats, version }) {
  state.formats = formats;
  document.body.dataset.version = version;
  $('version').textContent = version;
  fillFormats();
}

async function restore({ model, kept, values }) {
  try {
    await workerReady;
    await request('restore', { ...model, kept }, 'restore');
    await placeMesh();
    if (model.isMesh && values.attributes) warn('The voxels have no attributes any more: press Voxelize for them.');
    moved();
  } catch (error) {
    if (error instanceof Cancelled) return;
    dropResult();
    warn(`The last result is lost: ${error.message}`);
  }
}

class Cancelled extends Error {}

const messages = {
  adapter({ adapter, reason }) {
    $('backend-note').textContent = adapter ? `GPU: ${adapter}.` : `CPU only: ${reason}.`;
  },
  progress({ step, share }) {
    const bar = document.querySelector('progress');
    if (share === null) bar.removeAttribute('value'); else bar.value = share;
    // Each change is read out.
    if ($('step').textContent !== step) $('step').textContent = step;
  },
  estimated({ estimate }) {
    showEstimate(estimate);
  },
  picked({ found }) {
    state.isPicking = false;
    showPicked(found);
  },
  done({ id, value }) {
    pending.get(id)?.resolve(value);
    pending.delete(id);
  },
  failed({ id, message, fatal }) {
    // A failure of `ready` is fatal: no other request would be answered.
    if (!fatal && id !== 'ready') {
      pending.get(id)?.reject(new Error(message));
      pending.delete(id);
      return;
    }
    if (pending.has('ready')) {
      // This worker did not start, and neither would the next.
      const error = new Error(`WebAssembly did not start: ${message}`);
      pending.get('ready')?.reject(error);
      setBusy(false);
      fail(error.message);
      return;
    }
    const hint = 'The computation ended: most often the model needs more memory than a browser tab may take. '
      + 'Use a lower resolution, or the program on the command line.';
    const waiting = pending;
    pending = new Map();
    // What ends the worker while it is drawn or restored would end the next one.
    if (waiting.size === 0 || waiting.has('restore')) dropResult();
    const error = new Error(`${hint}\n(${message})`);
    for (const { reject } of waiting.values()) reject(error);
    startWorker();
    if (waiting.size > 0 && isBusy()) return;
    // It ended while it drew, or did what was cancelled.
    setBusy(false);
    fail(error.message);
  },
  notice({ message }) {
    warn(message);
  },
  frame({ camera, size, rows, image, isPresented, took }) {
    if (isMeshAwaited()) {
      image.close();
      return;
    }
    // The first of a new grid; until then the one before is seen.
    if (state.shown) document.body.classList.remove('stale');
    canvas.classList.remove('still');
    const [top, height] = rows.map((row) => row * canvas.height / size[1]);
    context.drawImage(image, 0, top, canvas.width, height);
    image.close();
    drawMesh(camera, top, height);
    showMeasures(camera);
    document.body.dataset.drawn = isPresented ? 'presented' : 'read back';
    // Milliseconds from the opening of the page to the first picture.
    document.body.dataset.first ??= performance.now().toFixed(0);
    if (took > 0) document.body.dataset.frame = took.toFixed(1);
  },
  sharpened({ number, samples }) {
    // Of an older view it says nothing about what is shown.
    if (number !== state.view) return;
    canvas.dataset.samples = samples;
    canvas.dispatchEvent(new Event('sharpened'));
  },
};

/** What `promise` gives, unless the job was cancelled meanwhile. */
async function current(promise) {
  const own = state.job;
  const value = await promise;
  if (own !== state.job) throw new Cancelled();
  return value;
}

function request(type, message, id = ++lastId) {
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    worker.postMessage({ type, id, ...message });
  });
}

async function ask(type, message = {}) {
  await current(workerReady);
  return current(request(type, message));
}

// --- Running

/** `busy` is what is done at first, or false. */
function setBusy(busy) {
  form.classList.toggle('busy', Boolean(busy));
  $('cancel').disabled = !busy;
  $('run').disabled = Boolean(busy) || !state.model;
  $('progress').classList.toggle('idle', !busy);
  document.querySelector('progress').removeAttribute('value');
  $('step').textContent = busy || '';
  for (const id of ['download', 'verify', 'picture']) $(id).disabled = Boolean(busy) || !state.shown;
  // Not around a live region: a screen reader may be silent there.
  canvas.setAttribute('aria-busy', Boolean(busy));
  if (!busy) state.isComputing = false;
  showChanged();
}

const isBusy = () => form.classList.contains('busy');

/** Ends the job in progress, if there is one. A worker that only writes or verifies is kept. */
function endJob() {
  state.job += 1;
  if (isBusy() && state.isComputing) startWorker(); else worker.postMessage({ type: 'stop' });
  state.isComputing = false;
}

/** Does `work` as the one job: a new one ends that which is in progress. `step` is what it does at first. */
async function job(step, work) {
  const focused = document.activeElement;
  endJob();
  clearTimeout(typing);
  const own = state.job;
  document.body.dataset.started = own;
  fail(null);
  say('');
  setBusy(step);
  try {
    await work();
  } catch (error) {
    if (own === state.job && !(error instanceof Cancelled)) fail(error.message);
  } finally {
    if (own === state.job) {
      setBusy(false);
      // The options may have changed meanwhile.
      if (!$('changed').hidden) preview();
      // A button that is disabled loses the focus.
      if (document.activeElement === document.body) focused.focus();
      document.body.dataset.finished = own;
    }
  }
}

function fail(message) {
  $('error').textContent = message ?? '';
  $('error').hidden = !message;
  if (message) $('error').scrollIntoView({ block: 'nearest' });
}

/** To screen readers. */
function say(message) {
  $('status').textContent = message;
}

function warn(message) {
  const item = document.createElement('li');
  item.textContent = message;
  $('warnings').append(item);
}

/** `given` is a list of files, or a promise of one; `chosen` the name of the model among them, the first if it is null. */
async function open(given, { example = null, chosen = null } = {}) {
  let files = await current(unpacked(await current(given)));
  if (files.length === 0) throw new Error('There was no file in it.');
  await current(workerReady);
  // Textures and buffers that come after their model.
  const isAddition = state.model?.isMesh && files.every(({ name }) => isPart(name));
  let added = [];
  if (isAddition) {
    added = files.map(({ name }) => baseOf(name));
    files = [...state.model.files.filter(({ name }) => !added.includes(baseOf(name))), ...files];
    [example, chosen] = [state.model.example, state.model.name];
  }
  // Until the files are known to be a model, the last one and its result stay.
  const { main, isMesh, models } = mainOf(files, state.formats, chosen);
  if (models.length === 0) throw new Error(`${main.name}: ${whyRefused(main.name)}`);
  if (main.file.size > LARGEST) {
    throw new Error(`${main.name}: has ${grouped(main.file.size)} bytes, and a browser tab reads at most `
      + `${grouped(LARGEST)}: use the program on the command line`);
  }
  state.model = { key: ++lastKey, name: main.name, files, isMesh, example };
  $('models').replaceChildren(...models.map(({ name }) => new Option(name, name, false, name === main.name)));
  $('models-row').hidden = models.length < 2;
  $('options').disabled = !isMesh;
  await compute();
  if (isAddition) warn(`${added.join(', ')}: added to ${main.name}.`);
}

/** Why a file of this name is not opened. */
function whyRefused(name) {
  if (['zip', '7z', 'rar', 'gz'].includes(extensionOf(name))) return 'is an archive: unpack it, and drop what is in it';
  if (isPart(name)) return 'is a part of a model: drop the model with it, such as the .obj or .gltf';
  const { meshes, grids } = state.formats;
  const known = [...meshes, ...grids.filter((format) => format.read)].map((format) => `.${format.extension}`);
  return `is in no format that is read: use ${known.join(', ')}`;
}

/** Removes what is shown of a result: it is not that of the model and the settings any more. */
function dropResult() {
  state.shown = null;
  $('actions').hidden = true;
  $('verdict').replaceChildren();
  $('warnings').replaceChildren();
  $('report').replaceChildren();
  dropSaved();
  document.body.classList.add('stale');
}

async function compute() {
  const { model } = state;
  const { key, name, files, isMesh } = model;
  $('model-name').textContent = name;
  if (!isMesh) showEstimate(null);
  if (isMesh && !form.checkValidity()) {
    $('fold').open = true;
    if ($('more').querySelector('input:invalid')) $('more').open = true;
    form.reportValidity();
    const { validationMessage } = form.querySelector('input:invalid');
    throw new Error(`One of the options is not possible: ${validationMessage}`);
  }
  const values = settings.read();
  state.tried = JSON.stringify(values);
  // It may still do what was cancelled.
  if ([...pending.keys()].some((id) => id !== 'restore' && id !== 'estimate')) startWorker();
  state.isComputing = true;
  showChanged();
  const { report, kept } = isMesh
    ? await ask('voxelize', { key, name, files, options: settings.options(values) })
    : await ask('open', { name, files });
  state.isComputing = false;
  const before = state.shown;
  dropResult();
  state.shown = { model, report, kept, values };
  showChoices();
  if (before?.model.name !== name) showFromLink(); else keepCut(before.report.dims);
  // Options have their labels here.
  report.warnings.forEach((warning) => warn(warning.replace('keepTransparent', '"keep transparent voxels", under "More",')));
  show(report);
  $('verification').hidden = !isMesh;
  $('actions').hidden = false;
  saySame();
  const warnings = $('warnings').childElementCount;
  await placeMesh();
  say(`Done: ${report.dims.join(' by ')} voxels, ${grouped(report.occupied)} of them occupied`
    + (warnings > 0 ? `; ${counted(warnings, 'warning')}` : ''));
  // At first a whole picture, for that of the model before to go.
  moved();
}

// --- Before a run

/** A grid of less work, in seconds of a core, and of less memory, in bytes, is computed as its options change. */
const SMALL = { seconds: 0.01, memory: 16e6 };
/** After the last change, in milliseconds. */
const PAUSE = 300;
/** WebAssembly takes twice as long as the program, of whose surfaces the estimate is, and a solid some five times as long. */
const secondsOf = ({ core_seconds }, mode) => 2 * core_seconds * (mode === 'solid' ? 5 : 1);
let typing;

/** Says what the options will take, and computes a small grid, or says that Voxelize does. */
async function preview() {
  await estimate();
  showChanged();
}

async function estimate() {
  const { model } = state;
  if (!model?.isMesh || isBusy() || pending.has('estimate')) return;
  if (!form.checkValidity()) {
    showEstimate(null);
    return;
  }
  const { key, name, files } = model;
  const values = settings.read();
  const asked = JSON.stringify(values);
  let found;
  try {
    await workerReady;
    found = await request('estimate', { key, name, files, options: settings.options(values) }, 'estimate');
  } catch (error) {
    if (error instanceof Cancelled) return;
    $('estimate').textContent = error.message;
    $('estimate').classList.add('refused');
    return;
  }
  if (isBusy() || model !== state.model) return;
  if (asked !== JSON.stringify(settings.read())) {
    await estimate();
    return;
  }
  showEstimate(found);
  const isSmall = secondsOf(found, values.mode) < SMALL.seconds && found.memory < SMALL.memory;
  const isNew = asked !== JSON.stringify(state.shown?.values) && asked !== state.tried;
  if (isSmall && isNew && model === state.shown?.model) job('voxelize', compute);
}

function showEstimate(estimate) {
  $('estimate').textContent = '';
  $('estimate').classList.remove('refused');
  if (!estimate) return;
  const { dims, memory, memory_limit: limit, bounds: [min, max] } = estimate;
  const size = max.map((most, axis) => Number((most - min[axis]).toPrecision(4)));
  const bytes = memory < 1e6 ? 'less than 1\u00a0MB' : memory < 1e9 ? `${(memory / 1e6).toFixed(0)}\u00a0MB` : `${(memory / 1e9).toFixed(1)}\u00a0GB`;
  const seconds = secondsOf(estimate, form.elements.mode.value);
  const [, time] = [[1, 'less than a second'], [10, 'seconds'], [60, 'less than a minute'], [600, 'minutes'], [Infinity, 'more than ten minutes']]
    .find(([end]) => seconds < end);
  const takes = memory > limit ? `${bytes}, more than a browser tab has: use the program` : `${bytes}, ${time} on the CPU`;
  $('estimate').textContent = `${dims.join(' x ')} voxels for a model of ${size.join(' x ')}: ${takes}.`;
}

const counted = (number, thing) => `${grouped(number)}\u00a0${thing}${number === 1 ? '' : 's'}`;
const duration = (ms) => (ms < 10 ? `${ms.toFixed(1)}\u00a0ms` : ms < 1000 ? `${ms.toFixed(0)}\u00a0ms` : `${(ms / 1000).toFixed(2)}\u00a0s`);

function list(target, rows) {
  target.replaceChildren(...rows.flatMap(([term, text, style]) => {
    const [dt, dd] = [document.createElement('dt'), document.createElement('dd')];
    dt.textContent = term;
    dd.textContent = text;
    if (style) dd.className = style;
    return [dt, dd];
  }));
}

/** What the program prints, line for line. */
function show(report) {
  const rows = [];
  if (report.mesh) {
    const degenerate = report.degenerate ? `, ${grouped(report.degenerate)} of them degenerate` : '';
    rows.push(['mesh', `${report.mesh}, ${counted(report.triangles, 'triangle')}${degenerate}`]);
  } else {
    rows.push(['file', report.grid]);
  }
  const size = report.voxel_size === null ? '' : ` of ${Number(report.voxel_size.toPrecision(6))}`;
  rows.push(['grid', `${report.dims.join(' x ')} voxels${size}`]);
  rows.push(['occupied', `${counted(report.occupied, 'voxel')} in ${counted(report.bricks, 'brick')}`]);
  if (report.fill) {
    rows.push(['fill', `${report.fill.rule}: ${report.fill.reason}`]);
    if (report.fill.caps) rows.push(['', report.fill.caps]);
  }
  rows.push(['hash', report.hash, 'hash']);
  if (report.backend) {
    rows.push(['backend', report.adapter ? `gpu, ${report.adapter}` : 'cpu']);
    const steps = ['load', 'place', 'voxelize', 'fill', 'color', 'attributes'];
    const times = steps.map((step) => [step, report.timings_ms[step]]).filter(([, ms]) => ms !== undefined);
    rows.push(['time', times.map(([step, ms]) => `${step}\u00a0${duration(ms)}`).join(', ')]);
  }
  list($('report'), rows);
}

/** The command of the grid that is shown; the link is that of the form. */
function saySame() {
  if (!state.model) return;
  const { example, name } = state.model;
  const cut = $('cut-axis').value && `${$('cut-axis').value},${$('cut').value}`;
  const place = {
    model: example, file: example ? null : baseOf(name), view: camera.text, cut,
    show: $('show').value === 'voxels' ? null : $('show').value,
    distance: $('distance').value === '3' ? null : $('distance').value, dither: $('dither').checked,
  };
  // Not a query: the host is not told the name of the file.
  history.replaceState(null, '', `${location.pathname}#${settings.query(settings.read(), place)}`);
  if (!state.shown) return;
  const { model: { isMesh }, values } = state.shown;
  const { kind, extension } = settings.fileOf($('format').value);
  const made = {
    picture: kind === 'turntable' ? { ...TURNTABLE, ...pictureOptions() } : pictureOptions(),
    width: Number($('distance').value), dither: isDithered(), attributes: formatOf(extension)?.attributes,
  };
  const command = settings.command(values, baseName(), $('format').value, !isMesh, made, fileNames());
  // Lines end between words only, not at a hyphen.
  $('command').replaceChildren(...command.split(' ').flatMap((word, index) => {
    const span = document.createElement('span');
    span.textContent = word;
    return index > 0 ? [' ', span] : [span];
  }));
}

/** Whether the form, or the model, is not that of the grid that is shown. */
function showChanged() {
  const { model, shown, isComputing } = state;
  const isOther = shown && model !== shown.model;
  const isChanged = shown && model.isMesh && JSON.stringify(settings.read()) !== JSON.stringify(shown.values);
  $('changed').hidden = isComputing || !(isOther || isChanged);
  $('changed').textContent = isOther ? `The result is still that of ${shown.model.name}: press Voxelize for ${model.name}.`
    : 'Options changed: press Voxelize for a new result.';
}

// --- Downloads

function fillFormats() {
  if ($('format').options.length > 0) return;
  const { grids } = state.formats;
  const option = ({ extension, name }) => new Option(`.${extension} (${name})`, extension);
  const group = (label, id, options) => {
    const element = Object.assign(document.createElement('optgroup'), { label, id });
    element.append(...options);
    return element;
  };
  const ofDistances = grids.filter(({ distances }) => distances)
    .map(({ extension }) => new Option(`.${extension} (distances)`, `${extension} distances`));
  const ofPictures = [['.png (picture)', 'png'], ['.gif (turntable)', 'gif turntable'], ['.png (turntable)', 'png turntable']]
    .map((option) => new Option(...option));
  $('format').replaceChildren(...grids.map(option),
    group('Signed distances', 'distance-formats', ofDistances), group('Pictures', 'picture-formats', ofPictures));
}

const formatOf = (extension) => state.formats.grids.find((format) => format.extension === extension);
/** Formats of few colours. */
const PALETTES = ['vox', 'schem', 'litematic'];
const isDithered = () => $('dither').checked && !$('dither-row').hidden;

/** Shows what the format and the grid leave to choose. */
function showChoices() {
  const { isMesh } = state.shown.model;
  $('distance-formats').disabled = !isMesh;
  if (!isMesh && settings.fileOf($('format').value).kind === 'distances') $('format').selectedIndex = 0;
  const { kind, extension } = settings.fileOf($('format').value);
  $('distance-row').hidden = kind !== 'distances';
  $('dither-row').hidden = kind !== 'voxels' || !PALETTES.includes(extension) || !state.shown.report.has_colors;
  $('show').disabled = !isMesh || state.shown.report.triangles > MOST_TRIANGLES;
  if ($('show').disabled) $('show').value = 'voxels';
}

/** Saves the file, and leaves a link to it: a dialog may be dismissed, and a browser may refuse. */
function save(file, name, remarks = []) {
  dropSaved();
  const link = $('saved');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.textContent = name;
  $('saved-about').textContent = [`, ${counted(file.size, 'byte')}`, ...remarks].join('; ');
  link.click();
}

function dropSaved() {
  const link = $('saved');
  URL.revokeObjectURL(link.href);
  link.removeAttribute('href');
  for (const id of ['saved', 'saved-about']) $(id).textContent = '';
}

const baseOf = (name) => name.split('/').pop();
const baseName = () => baseOf(state.shown.model.name);
const fileNames = () => state.shown.model.files.map(({ name }) => baseOf(name));
const savedName = (extension) => settings.savedName(baseName(), extension, fileNames());

/** What is asked of the worker for each kind of file. */
const asked = {
  voxels: (extension) => ask('write', { extension, options: { dither: isDithered() } }),
  distances(extension) {
    if (!$('distance').reportValidity()) throw new Error(`The band is not possible: ${$('distance').validationMessage}`);
    const { values } = state.shown;
    const width = Number($('distance').value);
    const [options, of] = [settings.optionsOfDistances(values), settings.options(values)];
    return ask('distances', { extension, width, options, of });
  },
  picture: () => ask('picture', { options: pictureOptions(), backend: form.elements.backend.value }),
  turntable: (extension) => ask('turntable', {
    extension, options: { ...TURNTABLE, ...pictureOptions() }, backend: form.elements.backend.value,
  }),
};

$('download').addEventListener('click', () => job(`writing .${settings.fileOf($('format').value).extension}`, async () => {
  const { kind, extension } = settings.fileOf($('format').value);
  dropSaved();
  const { file, lost } = await asked[kind](extension);
  const isPicture = ['picture', 'turntable'].includes(kind);
  const isWhole = camera.pan.every((part) => part === 0) && $('cut-axis').value === '';
  const left = isPicture && !isWhole ? ['the cut and the shift of the view are not in it: "Save picture" keeps them'] : lost;
  save(file, savedName(extension), left);
}));

/** One orbit, in four seconds. */
const TURNTABLE = { frames: 48, size: [480, 480] };

/** What `voxelize render` draws from where the view is; a cut and a shift it does not have. */
function pictureOptions() {
  const degrees = (angle) => Number((angle * 180 / Math.PI).toFixed(1));
  const { yaw, pitch, zoom } = camera;
  if (camera.preset && zoom === 1) return { view: camera.preset };
  return { azimuth: degrees(yaw) % 360, elevation: degrees(pitch), zoom: Number(zoom.toFixed(3)) };
}

let isPictureAwaited = false;

$('picture').addEventListener('click', async () => {
  // Further clicks ask for the same picture.
  if (isPictureAwaited) return;
  isPictureAwaited = true;
  // Until then the canvas may show the model before.
  const own = state.job;
  while (canvas.dataset.samples === undefined) {
    await new Promise((resolve) => canvas.addEventListener('sharpened', resolve, { once: true }));
  }
  isPictureAwaited = false;
  if (own !== state.job) return;
  canvas.toBlob((blob) => {
    if (blob) save(blob, savedName('png')); else fail('The browser made no picture: make its window smaller.');
  }, 'image/png');
});

$('verify').addEventListener('click', () => job('verifying', async () => {
  const { reports, reason } = await ask('verify', { options: settings.options(state.shown.values) });
  const { gpu, cpu } = reports;
  const rows = [];
  if (gpu) rows.push(['GPU', `${gpu.hash} (${duration(gpu.timings_ms.voxelize)})`, 'hash']);
  rows.push(['CPU', `${cpu.hash} (${duration(cpu.timings_ms.voxelize)})`, 'hash']);
  const isSame = [gpu ?? cpu, cpu].every(({ hash }) => hash === state.shown.report.hash);
  const verdict = gpu ? (isSame ? 'the same, bit for bit' : 'different: please report this') : `no GPU to compare with: ${reason}`;
  rows.push(['', verdict, gpu ? (isSame ? 'same' : 'different') : '']);
  list($('verdict'), rows);
  say(verdict);
}));

$('copy-command').addEventListener('click', () => copy($('command').textContent, $('copy-command')));
$('copy-link').addEventListener('click', () => copy(location.href, $('copy-link')));

async function copy(text, button) {
  const label = button.dataset.label ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not allowed: select it, and copy';
  }
  say(button.textContent);
  setTimeout(() => { button.textContent = label; }, 1500);
}

// --- Input

$('choose-files').addEventListener('click', () => $('files').click());
$('choose-folder').addEventListener('click', () => $('folder').click());
for (const id of ['files', 'folder']) {
  $(id).addEventListener('change', () => {
    const files = ofInput($(id));
    job('reading', () => open(files));
    $(id).value = '';
  });
}
$('models').addEventListener('change', () => {
  const { files } = state.model;
  job('reading', () => open(files, { chosen: $('models').value }));
});
for (const button of document.querySelectorAll('[data-example]')) {
  button.addEventListener('click', () => openExample(button.dataset.example));
}

const openExample = (name) => job('loading', () => open(fetchExample(name), { example: name }));

async function fetchExample(name) {
  const names = name === 'lighthouse.obj' ? [name, 'lighthouse.mtl', 'lighthouse.png'] : [name];
  return Promise.all(names.map(async (name) => {
    const file = `examples/${name}`;
    const response = await fetch(file).catch((error) => {
      throw new Error(`${file}: cannot be loaded (${error.message}): is there a network?`);
    });
    if (!response.ok) throw new Error(`${file}: ${response.status} ${response.statusText}`);
    return { name, file: await response.blob() };
  }));
}

addEventListener('dragover', (event) => {
  event.preventDefault();
  if (event.dataTransfer.types.includes('Files')) document.body.classList.add('dropping');
});
addEventListener('dragleave', (event) => {
  if (!event.relatedTarget) document.body.classList.remove('dropping');
});
addEventListener('drop', (event) => {
  event.preventDefault();
  document.body.classList.remove('dropping');
  // Text that was selected can be dropped as well.
  if (!event.dataTransfer.types.includes('Files')) return;
  // What was dropped is there during this event only.
  const files = ofDrop(event.dataTransfer);
  job('reading', () => open(files));
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (state.model) job('reading', compute);
});
form.addEventListener('input', () => {
  showFields();
  saySame();
  clearTimeout(typing);
  typing = setTimeout(preview, PAUSE);
});
for (const button of document.querySelectorAll('[data-res]')) {
  button.addEventListener('click', () => {
    form.elements.res.value = button.dataset.res;
    form.elements['voxel-size'].value = '';
    form.dispatchEvent(new Event('input'));
  });
}
$('format').addEventListener('change', () => {
  showChoices();
  saySame();
});
for (const id of ['distance', 'dither']) $(id).addEventListener('input', saySame);
$('cancel').addEventListener('click', () => {
  if (state.isComputing || !state.shown) $('model-name').textContent = `${state.model?.name ?? ''} (cancelled)`;
  endJob();
  setBusy(false);
  $('run').focus();
  say('Cancelled');
});

function showFields() {
  form.classList.toggle('solid', form.elements.mode.value === 'solid');
  form.classList.toggle('one-color', form.elements.color.value === 'one');
  // A disabled field is not checked.
  form.elements.res.disabled = form.elements['voxel-size'].value !== '';
}

// --- The view

const context = canvas.getContext('2d');
let rest = 0;

// --- The mesh in the view, axes and a ruler

/** More take too much of a browser's memory. */
const MOST_TRIANGLES = 4_000_000;
let mesh = null;
/** The part of the width that has the mesh where both are shown, and whether it is dragged. */
let divider = 0.5;
let isDividing = false;

/** Loads the mesh of the grid that is shown into the picture of the mesh, unless only voxels are shown. */
async function placeMesh() {
  if ($('show').value === 'voxels') return;
  const { shown } = state;
  try {
    mesh ??= newMesh();
    if (mesh.shown !== shown) {
      await workerReady;
      // Of no job: it is not cancelled.
      const corners = await request('placed', { options: settings.options(shown.values) });
      mesh.set(corners, shown.report.dims);
      mesh.shown = shown;
    }
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    $('show').value = 'voxels';
    warn(error.message);
  }
}

function newMesh() {
  const picture = new MeshPicture();
  picture.canvas.addEventListener('webglcontextlost', () => {
    mesh = null;
    $('show').value = 'voxels';
    warn('The browser ended the drawing of the mesh: choose it again.');
    moved();
  });
  return picture;
}

/** Whether pictures would have the voxels in place of a mesh that is not there yet. */
const isMeshAwaited = () => $('show').value !== 'voxels' && mesh?.shown !== state.shown;

/** Draws the mesh over rows of the picture: over all of them, or left of the divider. */
function drawMesh(camera, top, height) {
  const choice = $('show').value;
  if (choice === 'voxels') return;
  const width = choice === 'both' ? Math.round(divider * canvas.width) : canvas.width;
  const part = [0, top, width, height];
  context.fillStyle = sky();
  context.fillRect(...part);
  context.drawImage(mesh.draw(camera, [canvas.width, canvas.height], cut()), ...part, ...part);
  if (choice === 'both') {
    context.fillStyle = '#7f8a86';
    context.fillRect(width, top, Math.round(Math.min(2, devicePixelRatio)), height);
  }
}

/** The pointer within a finger's width of the divider drags it, and not the camera. */
const isOnDivider = ({ offsetX }) => $('show').value === 'both' && Math.abs(offsetX - divider * canvas.clientWidth) < 12;
$('stage').addEventListener('pointerdown', (event) => {
  if (!isOnDivider(event)) return;
  isDividing = true;
  canvas.setPointerCapture(event.pointerId);
  event.stopPropagation();
}, true);
$('stage').addEventListener('pointermove', (event) => {
  canvas.classList.toggle('divider', isDividing || isOnDivider(event));
  if (!isDividing) return;
  divider = Math.min(0.98, Math.max(0.02, event.offsetX / canvas.clientWidth));
  moved();
});
for (const end of ['pointerup', 'pointercancel']) $('stage').addEventListener(end, () => { isDividing = false; });

/** What is behind the voxels: a gradient of linear light. */
function sky() {
  const [above, below] = background().map((color) => color.map((part) => (part / 255) ** 2.2));
  const gradient = context.createLinearGradient(0, 0, 0, canvas.height);
  for (let share = 0; share <= 1; share += 0.125) {
    const color = above.map((part, i) => Math.round(255 * (part + share * (below[i] - part)) ** (1 / 2.2)));
    gradient.addColorStop(share, `rgb(${color})`);
  }
  return gradient;
}

function showMeasures(seen) {
  if (!state.shown) return;
  $('measures').hidden = false;
  turnAxes($('axes'), seen);
  const { voxel_size: size } = state.shown.report;
  const { length, pixels } = rulerOf(seen, canvas.clientWidth / canvas.width, size ?? 1);
  $('ruler').style.width = `${pixels}px`;
  const text = `${length}\u00a0${size === null ? 'voxel' : 'unit'}${length === 1 ? '' : 's'}`;
  if ($('ruler').textContent !== text) $('ruler').textContent = text;
}

$('show').addEventListener('change', async () => {
  try {
    await placeMesh();
    moved();
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
  }
});

/** sRGB colours of the view, at the top and at the bottom. */
function background() {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  return isDark ? [[44, 49, 51], [24, 27, 28]] : [[250, 250, 248], [214, 219, 216]];
}

/** The axis of the cut, and the last layer that is shown. */
function cut() {
  const axis = $('cut-axis').selectedIndex - 1;
  return axis < 0 ? null : [axis, Number($('cut').value)];
}

function refresh(moving) {
  if (!state.shown) return;
  const size = [canvas.width, canvas.height];
  delete canvas.dataset.samples;
  const view = { number: ++state.view, size, moving, camera: { ...camera.options, cut: cut(), background: background() } };
  worker.postMessage({ type: 'view', view });
}

function moved() {
  refresh(true);
  clearTimeout(rest);
  rest = setTimeout(() => {
    refresh(false);
    saySame();
  }, 200);
}

camera.addEventListener('change', () => {
  $('preset').value = camera.preset ?? '';
  moved();
});
/** Shows the layers up to `layer`, or to the middle one if that is no number. */
function cutAt(layer = NaN) {
  const axis = $('cut-axis').selectedIndex - 1;
  const last = (state.shown?.report.dims[axis] ?? 1) - 1;
  for (const id of ['cut', 'layer']) {
    $(id).disabled = axis < 0;
    $(id).max = last;
    $(id).value = Number.isInteger(layer) ? Math.max(0, Math.min(last, layer)) : Math.floor(last / 2);
  }
}
/** The cut at the same place in a grid of other dimensions. */
function keepCut(before) {
  const axis = $('cut-axis').selectedIndex - 1;
  if (axis >= 0) cutAt(Math.ceil((Number($('cut').value) + 1) * state.shown.report.dims[axis] / before[axis]) - 1);
}
for (const id of ['cut', 'layer']) {
  $(id).addEventListener('input', () => {
    // A field that is being typed in may be empty.
    if (!$(id).checkValidity() || $(id).value === '') return;
    $(id === 'cut' ? 'layer' : 'cut').value = $(id).value;
    moved();
  });
}
$('cut-axis').addEventListener('change', () => {
  cutAt();
  moved();
});

/** What is under the pointer: asked for once at a time. */
let pointed = null;
function pick() {
  if (state.isPicking || !pointed || !state.shown) return;
  state.isPicking = true;
  worker.postMessage({ type: 'pick', at: pointed });
  pointed = null;
}
function showPicked(found) {
  $('under').hidden = !found;
  if (found) {
    const { voxel, color } = found;
    $('under-text').textContent = ['x', 'y', 'z'].map((axis, i) => `${axis}\u00a0${voxel[i]}`).join(', ');
    $('swatch').hidden = !color;
    if (color) {
      const hex = `#${color.slice(0, 3).map((c) => c.toString(16).padStart(2, '0')).join('')}`.toUpperCase();
      $('swatch').style.background = hex;
      $('under-text').textContent += `, ${hex}${color[3] < 255 ? `, opacity\u00a0${color[3]}` : ''}`;
    }
  }
  pick();
}
for (const name of ['pointermove', 'pointerdown']) {
  canvas.addEventListener(name, ({ offsetX, offsetY }) => {
    pointed = [offsetX * canvas.width / canvas.clientWidth, offsetY * canvas.height / canvas.clientHeight];
    pick();
  });
}
canvas.addEventListener('pointerleave', () => {
  pointed = null;
  $('under').hidden = true;
});
/** Turns what is seen while the button is pressed in. */
function turn(since, now) {
  if ($('turn').ariaPressed !== 'true') return;
  camera.turn((since - now) / 2000, 0);
  requestAnimationFrame((next) => turn(now, next));
}
$('turn').addEventListener('click', () => {
  $('turn').ariaPressed = String($('turn').ariaPressed !== 'true');
  requestAnimationFrame((now) => turn(now, now));
});
$('full').hidden = !document.fullscreenEnabled;
$('full').addEventListener('click', async () => {
  try {
    await (document.fullscreenElement ? document.exitFullscreen() : $('view').requestFullscreen());
  } catch (error) {
    fail(`The browser refused the full screen: ${error.message}`);
  }
});
$('preset').addEventListener('change', () => camera.reset($('preset').value));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', moved);

new ResizeObserver(() => {
  const ratio = Math.min(2, devicePixelRatio);
  const size = [canvas.clientWidth, canvas.clientHeight].map((side) => Math.max(1, Math.round(side * ratio)));
  if (size[0] === canvas.width && size[1] === canvas.height) return;
  // A canvas that changes its size is empty: the last picture stays until the next.
  const last = new OffscreenCanvas(canvas.width, canvas.height);
  last.getContext('2d').drawImage(canvas, 0, 0);
  [canvas.width, canvas.height] = size;
  context.drawImage(last, 0, 0, canvas.width, canvas.height);
  // Frees its memory at once: Safari limits the memory of all canvases together, and collects them late.
  [last.width, last.height] = [0, 0];
  moved();
}).observe(canvas);

// --- The beginning

/** On a phone the picture is first, also for the keyboard, and the options are folded. */
const phone = matchMedia('(max-width: 44rem)');
function arrange() {
  const [first, second] = phone.matches ? [$('view'), form] : [form, $('view')];
  if (first.nextElementSibling !== second) second.before(first);
}
phone.addEventListener('change', arrange);
arrange();
$('fold').open = !phone.matches;

const link = new URLSearchParams([...new URLSearchParams(location.search), ...new URLSearchParams(location.hash.slice(1))]);
addEventListener('hashchange', () => location.reload());
settings.write(Object.fromEntries(link));
$('more').open = settings.hasMore(settings.read());
$('distance').value = link.get('distance') ?? 3;
$('dither').checked = link.get('dither') === 'true';
$('model-name').textContent = link.has('file') ? `Drop ${link.get('file')} here again: it never left its machine.`
  : link.size > 0 ? 'Drop a model: the link that you followed has the settings only.' : '';

/** The view and the cut of the link are those of the first model. */
function showFromLink() {
  camera.show(link.get('view') ?? 'three-quarter');
  const [axis, layer] = (link.get('cut') ?? '').split(',');
  if (['x', 'y', 'z'].includes(axis)) {
    $('cut-axis').value = axis;
    cutAt(Number(layer));
  } else if ($('cut-axis').value) {
    cutAt();
  }
  if (['mesh', 'both'].includes(link.get('show')) && !$('show').disabled) $('show').value = link.get('show');
  for (const name of ['view', 'cut', 'show']) link.delete(name);
}

showFields();
startWorker();
setBusy(false);
const wanted = link.get('model') ?? (link.size === 0 ? 'lighthouse.obj' : null);
const known = [...document.querySelectorAll('[data-example]')].map((button) => button.dataset.example);
canvas.classList.toggle('still', wanted === 'lighthouse.obj');
if (known.includes(wanted)) openExample(wanted);
// Without it the page needs a network.
if (!link.has('no-cache')) navigator.serviceWorker?.register('offline.js').catch(() => {});
