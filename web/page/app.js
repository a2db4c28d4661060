// The page: hands files and settings to the worker, and shows what comes back.

import { Camera } from './camera.js';
import { extensionOf, mainOf, ofDrop, ofInput } from './files.js';
import * as settings from './settings.js';

const $ = (id) => document.getElementById(id);
const form = $('settings');
const canvas = $('canvas');
const camera = new Camera(canvas);
const state = { model: null, report: null, formats: null, job: 0, view: 0, example: null };

// --- The worker. Cancelling ends it, since WebAssembly does not listen while it computes.

let worker;
let pending;
let workerReady;
let lastId = 0;

function startWorker() {
  worker?.terminate();
  for (const { reject } of pending?.values() ?? []) reject(new Cancelled());
  pending = new Map();
  worker = new Worker('worker.js', { type: 'module' });
  workerReady = new Promise((resolve, reject) => {
    pending.set('ready', { resolve, reject });
  });
  workerReady.catch(() => {});
  worker.onmessage = ({ data }) => messages[data.type](data);
  worker.onerror = (event) => messages.failed({ message: event.message || 'the worker did not start', fatal: true });
}

class Cancelled extends Error {}

const messages = {
  adapter({ adapter, reason }) {
    $('backend-note').textContent = adapter ? `GPU: ${adapter}.` : `CPU only: ${reason}.`;
    document.body.dataset.adapter = adapter ?? '';
  },
  ready({ formats, version }) {
    state.formats = formats;
    document.body.dataset.version = version;
    fillFormats();
    pending.get('ready')?.resolve();
    pending.delete('ready');
  },
  progress({ step, share }) {
    const bar = document.querySelector('progress');
    if (share === null) bar.removeAttribute('value'); else bar.value = share;
    $('step').textContent = step;
  },
  done({ id, value }) {
    pending.get(id)?.resolve(value);
    pending.delete(id);
  },
  failed({ id, message, fatal }) {
    if (!fatal) {
      pending.get(id)?.reject(new Error(message));
      pending.delete(id);
      return;
    }
    if (!state.formats) {
      // It never started: nor would the next.
      setBusy(false);
      fail(`WebAssembly did not start: ${message}`);
      return;
    }
    const hint = 'The computation ended: most often the model needs more memory than a browser tab may take. '
      + 'Use a lower resolution, or the program on the command line.';
    const waiting = pending;
    pending = new Map();
    for (const { reject } of waiting.values()) reject(new Error(`${hint}\n(${message})`));
    state.report = null;
    startWorker();
  },
  notice({ message }) {
    warn(message);
  },
  frame({ size, rows, image, pixels, took }) {
    if (image) present(size, rows, image); else paint(size, rows, pixels);
    document.body.dataset.drawn = image ? 'presented' : 'read back';
    // Milliseconds from the opening of the page to the first picture.
    document.body.dataset.first ??= performance.now().toFixed(0);
    if (took > 0) document.body.dataset.frame = took.toFixed(1);
  },
  sharpened({ number, samples }) {
    // Of an older view it says nothing about what is shown.
    if (number === state.view) canvas.dataset.samples = samples;
  },
};

async function ask(type, message = {}) {
  await workerReady;
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    worker.postMessage({ type, id, ...message });
  });
}

// --- Running

function setBusy(busy) {
  form.classList.toggle('busy', busy);
  $('cancel').disabled = !busy;
  $('run').disabled = busy || !state.model;
  $('progress').classList.toggle('idle', !busy);
  document.querySelector('progress').value = 0;
  $('step').textContent = '';
  for (const id of ['download', 'verify', 'picture']) $(id).disabled = busy || !state.report;
  document.body.setAttribute('aria-busy', busy);
}

/** Does `work` as the one job: a new one ends that which is in progress. */
async function job(work) {
  if (document.body.getAttribute('aria-busy') === 'true') startWorker();
  const own = ++state.job;
  document.body.dataset.started = own;
  fail(null);
  setBusy(true);
  try {
    await work();
  } catch (error) {
    if (own === state.job && !(error instanceof Cancelled)) fail(error.message);
  } finally {
    if (own === state.job) {
      setBusy(false);
      document.body.dataset.finished = own;
    }
  }
}

function fail(message) {
  $('error').textContent = message ?? '';
  $('error').hidden = !message;
}

function warn(message) {
  const item = document.createElement('li');
  item.textContent = message;
  $('warnings').append(item);
}

/** Bytes of a file: WebAssembly has 4 GiB, in which the mesh is there as well. */
const LARGEST = 1_000_000_000;

async function open(files, example = null) {
  if (files.length === 0) return;
  await job(async () => {
    await workerReady;
    const { main, isMesh, others } = mainOf(files, state.formats);
    if (main.file.size > LARGEST) {
      throw new Error(`${main.name}: has ${grouped(main.file.size)} bytes, and a browser tab reads at most `
        + `${grouped(LARGEST)}: use the program on the command line`);
    }
    state.model = { name: main.name, files, isMesh, others };
    state.example = example;
    $('model-name').textContent = main.name;
    form.classList.toggle('grid', !isMesh);
    camera.reset('three-quarter');
    await compute();
  });
}

async function compute() {
  const { name, files, isMesh, others } = state.model;
  const values = settings.read(form);
  $('actions').hidden = true;
  $('verdict').replaceChildren();
  $('warnings').replaceChildren();
  state.report = null;
  const report = isMesh
    ? await ask('voxelize', { name, files, options: settings.options(values) })
    : await ask('open', { name, files });
  state.report = report;
  if (others > 0) warn(`${others + 1} meshes were given; this is the first. Choose one to see another.`);
  report.warnings.forEach(warn);
  show(report);
  $('actions').hidden = false;
  saySame();
  refresh(false);
}

const grouped = (number) => number.toLocaleString('en');
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
  const size = report.voxel_size === undefined ? '' : ` of ${Number(report.voxel_size.toPrecision(6))}`;
  rows.push(['grid', `${report.dims.join(' x ')} voxels${size}`]);
  rows.push(['occupied', `${counted(report.occupied, 'voxel')} in ${counted(report.bricks, 'brick')}`]);
  if (report.fill) {
    rows.push(['fill', `${report.fill.rule}: ${report.fill.reason}`]);
    if (report.fill.caps) rows.push(['', report.fill.caps]);
  }
  rows.push(['hash', report.hash, 'hash']);
  if (report.backend) {
    rows.push(['backend', report.adapter ? `gpu, ${report.adapter}` : 'cpu']);
    const steps = ['load', 'place', 'voxelize', 'fill', 'color'];
    const times = steps.map((step) => [step, report.timings_ms[step]]).filter(([, ms]) => ms !== null);
    rows.push(['time', times.map(([step, ms]) => `${step}\u00a0${duration(ms)}`).join(', ')]);
  }
  list($('report'), rows);
}

function saySame() {
  if (!state.model) return;
  const { name, isMesh } = state.model;
  const values = settings.read(form);
  $('command').textContent = settings.command(values, name.split('/').pop(), $('format').value, !isMesh, pictureOptions());
  history.replaceState(null, '', `?${settings.query(values, state.example)}`);
}

// --- Downloads

function fillFormats() {
  if ($('format').options.length > 0) return;
  const written = state.formats.grids.filter((format) => format.written);
  const option = ({ extension, name }) => new Option(`.${extension} (${name})`, extension);
  $('format').replaceChildren(...written.map(option), new Option('.png (picture)', 'png'));
}

function save(file, name) {
  const link = $('saved');
  if (link.href) URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
}

const stem = () => state.model.name.split('/').pop().replace(/\.[^.]*$/, '');

$('download').addEventListener('click', () => job(async () => {
  const extension = $('format').value;
  const isPicture = extension === 'png';
  const { file, lost } = isPicture
    ? await ask('picture', { options: pictureOptions(), backend: form.elements.backend.value })
    : await ask('write', { extension });
  save(file, `${stem()}.${extension}`);
  $('saved-note').textContent = [`${stem()}.${extension}, ${counted(file.size, 'byte')}.`, ...lost].join(' ');
}));

/** What `voxelize render` draws from where the view is; a cut and a shift it does not have. */
function pictureOptions() {
  const degrees = (angle) => Number((angle * 180 / Math.PI).toFixed(1));
  const { yaw, pitch, zoom } = camera;
  if (camera.preset && zoom === 1) return { view: camera.preset };
  return { azimuth: degrees(yaw) % 360, elevation: degrees(pitch), zoom: Number(zoom.toFixed(3)) };
}

$('picture').addEventListener('click', () => {
  canvas.toBlob((blob) => save(blob, `${stem()}.png`), 'image/png');
});

$('verify').addEventListener('click', () => job(async () => {
  const { reports, reason } = await ask('verify', { options: settings.options(settings.read(form)) });
  const { gpu, cpu } = reports;
  const rows = [];
  if (gpu) rows.push(['GPU', `${gpu.hash} (${duration(gpu.timings_ms.voxelize)})`, 'hash']);
  rows.push(['CPU', `${cpu.hash} (${duration(cpu.timings_ms.voxelize)})`, 'hash']);
  const isSame = !gpu || gpu.hash === cpu.hash;
  const verdict = gpu ? (isSame ? 'the same, bit for bit' : 'different: please report this') : `no GPU to compare with: ${reason}`;
  rows.push(['', verdict, gpu ? (isSame ? 'same' : 'different') : '']);
  list($('verdict'), rows);
}));

$('copy-command').addEventListener('click', () => copy($('command').textContent, $('copy-command')));
$('copy-link').addEventListener('click', () => copy(location.href, $('copy-link')));

async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not allowed: select it, and copy';
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}

// --- Input

$('choose-files').addEventListener('click', () => $('files').click());
$('choose-folder').addEventListener('click', () => $('folder').click());
for (const id of ['files', 'folder']) {
  $(id).addEventListener('change', () => {
    open(ofInput($(id)));
    $(id).value = '';
  });
}
for (const button of document.querySelectorAll('[data-example]')) {
  button.addEventListener('click', () => openExample(button.dataset.example));
}

async function openExample(name) {
  const names = name === 'lighthouse.obj' ? [name, 'lighthouse.mtl', 'lighthouse.png'] : [name];
  const fetched = await Promise.all(names.map(async (name) => {
    const response = await fetch(`examples/${name}`);
    if (!response.ok) throw new Error(`examples/${name}: ${response.status} ${response.statusText}`);
    return { name, file: await response.blob() };
  })).catch((error) => fail(error.message));
  if (fetched) await open(fetched, name);
}

addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('dropping');
});
addEventListener('dragleave', (event) => {
  if (!event.relatedTarget) document.body.classList.remove('dropping');
});
addEventListener('drop', async (event) => {
  event.preventDefault();
  document.body.classList.remove('dropping');
  open(await ofDrop(event.dataTransfer));
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (state.model) job(compute);
});
form.addEventListener('input', () => {
  showFields();
  saySame();
});
$('format').addEventListener('change', saySame);
$('cancel').addEventListener('click', () => {
  state.job += 1;
  state.report = null;
  startWorker();
  setBusy(false);
  $('model-name').textContent = `${state.model?.name ?? ''} (cancelled)`;
});

function showFields() {
  form.classList.toggle('solid', form.elements.mode.value === 'solid');
  form.classList.toggle('one-color', form.elements.color.value === 'one');
}

// --- The view

const context = canvas.getContext('2d');
const small = document.createElement('canvas');
let rest = 0;

function paint(size, [first, rows], pixels) {
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, pixels.length), size[0], rows);
  if (size[0] === canvas.width && size[1] === canvas.height) {
    context.putImageData(image, 0, first);
    return;
  }
  [small.width, small.height] = size;
  small.getContext('2d').putImageData(image, 0, first);
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
}

function present(size, [first, rows], image) {
  const scale = canvas.height / size[1];
  context.drawImage(image, 0, first * scale, canvas.width, rows * scale);
  image.close();
}

/** sRGB colours of the view, at the top and at the bottom. */
function background() {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  return isDark ? [[44, 49, 51], [24, 27, 28]] : [[250, 250, 248], [214, 219, 216]];
}

function refresh(moving) {
  if (!state.report) return;
  const [axis, part] = [$('cut-axis').selectedIndex - 1, Number($('cut').value) / 100];
  const cut = axis < 0 ? null : [axis, part];
  const size = [canvas.width, canvas.height];
  delete canvas.dataset.samples;
  const view = { number: ++state.view, size, moving, camera: { ...camera.options, cut, background: background() } };
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

camera.addEventListener('change', moved);
$('cut').addEventListener('input', moved);
$('cut-axis').addEventListener('change', () => {
  $('cut').disabled = $('cut-axis').value === '';
  if ($('cut').value === '100') $('cut').value = 50;
  moved();
});
$('preset').addEventListener('change', () => camera.reset($('preset').value));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', moved);

new ResizeObserver(() => {
  const ratio = Math.min(2, devicePixelRatio);
  const size = [canvas.clientWidth, canvas.clientHeight].map((side) => Math.max(1, Math.round(side * ratio)));
  if (size[0] === canvas.width && size[1] === canvas.height) return;
  // A canvas that changes its size is empty: the last picture stays until the next.
  [small.width, small.height] = [canvas.width, canvas.height];
  small.getContext('2d').drawImage(canvas, 0, 0);
  [canvas.width, canvas.height] = size;
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
  moved();
}).observe(canvas);

// --- The beginning

const link = new URLSearchParams(location.search);
settings.write(form, Object.fromEntries(link));
showFields();
startWorker();
setBusy(false);
const wanted = link.get('model') ?? (link.size === 0 ? 'lighthouse.obj' : null);
const known = [...document.querySelectorAll('[data-example]')].map((button) => button.dataset.example);
if (known.includes(wanted)) openExample(wanted);
if ('serviceWorker' in navigator && !link.has('no-cache')) navigator.serviceWorker.register('offline.js');
