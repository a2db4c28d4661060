// node test.mjs chromium|firefox BROWSER VOXELIZE: the page in a real browser, against the native program.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync, createReadStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import puppeteer from 'puppeteer-core';

const [kind, executablePath, program] = process.argv.slice(2);
const root = import.meta.dirname;
const page = join(root, 'dist/page');
const shots = join(root, '../target/screenshots');
/** Files that the tests without a browser make. */
const made = join(root, '../target/web-test');
mkdirSync(made, { recursive: true });
mkdirSync(shots, { recursive: true });
const scratch = mkdtempSync(join(tmpdir(), 'trivox-web-'));

const TYPES = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml', '.png': 'image/png', '.webp': 'image/webp',
};
/**
 * `planted/` is the page with what `planted` says at the end of its worker, `headers/` with the header of docs/web.md,
 * `gpu/` takes a GPU in software for one that is not.
 */
let planted = '';
let isDown = false;
const HARDWARE = ";if (globalThis.GPUAdapterInfo) Object.defineProperty(GPUAdapterInfo.prototype, 'isFallbackAdapter', { value: false });";
const header = readFileSync(join(root, '../docs/web.md'), 'utf8').match(/^Content-Security-Policy: (.*)$/m)?.[1];
const server = createServer((request, response) => {
  if (isDown) {
    request.socket.destroy();
    return;
  }
  const [, folder, name] = decodeURIComponent(new URL(request.url, 'http://host').pathname).match(/^(\/planted|\/headers|\/gpu|)(\/.*)$/);
  const file = join(page, name.endsWith('/') ? `${name}index.html` : name);
  if (!file.startsWith(page) || !existsSync(file) || statSync(file).isDirectory()) {
    response.writeHead(404).end();
    return;
  }
  const headers = folder === '/headers' ? { 'content-security-policy': header } : {};
  response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', ...headers });
  if (folder && name === (folder === '/headers' ? '/offline.js' : '/worker.js')) {
    response.end(readFileSync(file) + (folder === '/gpu' ? HARDWARE : planted));
    return;
  }
  createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/`;

const asset = (name) => join(root, '../assets', name);
const native = (...args) => JSON.parse(execFileSync(program, [...args, '--json', '--quiet'], { encoding: 'utf8' }));

const launch = (...flags) => puppeteer.launch({
  executablePath,
  protocolTimeout: 300_000,
  ...(kind === 'firefox'
    ? {
      browser: 'firefox', headless: true,
      extraPrefsFirefox: { 'dom.webgpu.enabled': true, 'gfx.webgpu.ignore-blocklist': true },
    }
    : {
      headless: false, ignoreDefaultArgs: ['--headless'],
      args: ['--headless=new', '--no-sandbox', '--enable-unsafe-webgpu', ...flags],
    }),
});
const browser = await launch();

let failures = 0;
/** The tabs of a test, closed at its end. */
const tabs = [];
async function test(name, work) {
  // ONLY=REGEX runs some.
  if (process.env.ONLY && !new RegExp(process.env.ONLY).test(name)) return;
  const began = Date.now();
  try {
    const note = await work();
    console.log(`${kind}: ${name}: ok, ${((Date.now() - began) / 1000).toFixed(1)} s${note ? `, ${note}` : ''}`);
  } catch (error) {
    failures += 1;
    console.log(`${kind}: ${name}: FAILED, ${error.stack}`);
  }
  // Some are closed already.
  for (const tab of tabs.splice(0)) await tab.close().catch(() => {});
}

/** A .zip archive, with images stored; `claimed` bytes are said of each file instead of its own. */
function archive(files, claimed = null) {
  const [locals, entries] = [[], []];
  let start = 0;
  for (const [name, bytes] of files) {
    const isStored = name.endsWith('.png');
    const packed = isStored ? bytes : deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(isStored ? 0 : 8, 4);
    const gzip = gzipSync(bytes);
    fields.writeUInt32LE(gzip.readUInt32LE(gzip.length - 8), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(claimed ?? bytes.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const at = Buffer.alloc(16);
    at.writeUInt32LE(start, 12);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed]);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, at.subarray(2), Buffer.from(name)]));
    locals.push(local);
    start += local.length;
  }
  const list = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(start, 12);
  return Buffer.concat([...locals, list, Buffer.from('PK\x05\x06'), end]);
}

const faults = [];
const WIDE = { width: 1400, height: 900 };
/** With a small view, which is drawn soon. */
const SMALL = { width: 700, height: 500 };
/** The page, with a model of the assets. */
async function opened(query, { by = browser, prepare = () => {}, size = WIDE, folder = '', model = null } = {}) {
  const tab = await by.newPage();
  tabs.push(tab);
  tab.on('pageerror', (error) => {
    // Firefox says this of a picture whose page is left while it loads.
    if (String(error) !== 'Error: Image corrupt or truncated.') faults.push(String(error));
  });
  tab.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await tab.setViewport(size);
  await prepare(tab);
  await tab.goto(`${url}${folder}?${query}`, { waitUntil: 'load' });
  await tab.waitForFunction(() => document.body.dataset.version, { timeout: 120_000 });
  if (model) await drop(tab, asset(model));
  return tab;
}

/** The number of the job that the page has started, or finished, last. */
const lastJob = (tab, state) => tab.evaluate((state) => Number(document.body.dataset[state] ?? 0), state);
const reached = (tab, state, before) => tab.waitForFunction(
  (state, before) => Number(document.body.dataset[state] ?? 0) > before, { timeout: 240_000 }, state, before);
/** Until a job that `begin` starts is finished. A browser may deliver the event later than it answers. */
async function job(tab, begin) {
  const before = await lastJob(tab, 'started');
  await begin();
  await reached(tab, 'finished', before);
}
const term = (tab, name) => tab.evaluate((name) => {
  const found = [...document.querySelectorAll('#report dt')].find((dt) => dt.textContent === name);
  return found?.nextElementSibling.textContent ?? null;
}, name);
const text = (tab, id) => tab.$eval(`#${id}`, (element) => element.textContent);
/** Presses what may be folded away. */
const press = (tab, selector) => tab.$eval(selector, (element) => element.click());
const choose = (tab, name, value) => press(tab, `[name=${name}][value=${value}]`);
/** Types over what a field has. */
const type = (tab, selector, value) => tab.$eval(selector, (field, value) => {
  field.value = value;
  field.dispatchEvent(new Event('input', { bubbles: true }));
}, value);
async function drop(tab, ...files) {
  const input = await tab.$('#files');
  await job(tab, () => input.uploadFile(...files));
}
/** The bytes of the file that is downloaded, as `choice` of the formats. */
async function downloaded(tab, choice) {
  await tab.select('#format', choice);
  await tab.evaluate(() => {
    window.createUrl ??= URL.createObjectURL;
    URL.createObjectURL = (blob) => window.createUrl(window.lastBlob = blob);
  });
  await job(tab, () => tab.click('#download'));
  assert.equal(await text(tab, 'error'), '');
  return Buffer.from(await tab.evaluate(async () => [...new Uint8Array(await window.lastBlob.arrayBuffer())]));
}
/** Until the view is at rest, with so many rays along a side of a pixel. */
const rested = (tab, samples = 1) => tab.waitForFunction(
  (samples) => document.getElementById('canvas').dataset.samples >= samples, { timeout: 120_000 }, samples);
/** Whether the canvas has a picture: not one colour a row. */
const drawn = (tab) => tab.waitForFunction(() => {
  const canvas = document.getElementById('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, canvas.height >> 1, canvas.width, 1);
  const colors = new Set(new Uint32Array(data.buffer));
  return colors.size > 3;
}, { timeout: 120_000 });

try {
  const first = await opened('no-cache&res=64');
  const [hasGpu, isSoftware] = await first.evaluate(async () => {
    const adapter = await navigator.gpu?.requestAdapter();
    return [Boolean(adapter), adapter?.info?.isFallbackAdapter];
  });
  const backendNote = await text(first, 'backend-note');
  await first.close();
  await test('hashes are those of the native program; a GPU in software computes for those who choose it only', async () => {
    if (isSoftware) assert.equal(backendNote, 'CPU only: WebGPU is emulated in software here, slower than the CPU.');
    const isPromised = (process.env.TRIVOX_WEBGPU ?? '').split(' ').includes(kind);
    assert.ok(hasGpu || !isPromised, 'WebGPU is promised');
    const [cpu, gpu] = [/^cpu$/, /^gpu, /];
    // On one page, which opens the GPU once: shaders are compiled for a minute where it is in software.
    const tab = await opened('no-cache', { size: SMALL });
    const computed = async (backend, shown, name, res) => {
      await tab.select('[name=backend]', backend);
      await tab.evaluate((res) => { document.querySelector('[name=res]').value = res; }, res);
      await drop(tab, asset(name));
      assert.equal(await text(tab, 'error'), '');
      const expected = native(asset(name), '--res', String(res), '--backend', 'cpu', '--color', 'none');
      assert.equal(await term(tab, 'hash'), expected.hash, `${name} on ${backend}`);
      assert.match(await term(tab, 'backend'), shown);
    };
    await computed('auto', hasGpu && !isSoftware ? gpu : cpu, 'cube.obj', 32);
    for (const [name, res] of [['torus-knot.obj', 128], ['lighthouse.obj', 128]]) await computed('cpu', cpu, name, res);
    if (hasGpu) {
      for (const [name, res] of [['lighthouse.obj', 48], ['torus-knot.obj', 96], ['cube.obj', 64]]) await computed('gpu', gpu, name, res);
      await job(tab, () => tab.click('#verify'));
      assert.match(await text(tab, 'verdict'), /the same, bit for bit/);
      if (isSoftware) await computed('auto', cpu, 'cube.obj', 32);
    }
    return hasGpu ? 'CPU and GPU' : `CPU only: ${kind} has no WebGPU here`;
  });

  await test('every solid fill has the native hash, on what there is', async () => {
    const tab = await opened('no-cache&res=48&mode=solid');
    for (const fill of ['auto', 'winding', 'vote']) {
      await choose(tab, 'fill', fill);
      await drop(tab, asset('torus-knot.obj'));
      const expected = native(asset('torus-knot.obj'), '--res', '48', '--mode', 'solid', '--fill', fill, '--backend', 'cpu');
      assert.equal(await term(tab, 'hash'), expected.hash, fill);
    }
  });

  await test('neither the worker nor, with the header, the offline worker reaches another host', async () => {
    const reached = [];
    const other = createServer((request, response) => {
      reached.push(request.url);
      response.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/javascript' }).end();
    });
    other.on('upgrade', (request, socket) => { reached.push(request.url); socket.destroy(); });
    await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${other.address().port}`;
    // The last one is answered by the page's own host.
    const attempts = `[
      ['fetch', () => fetch('http://${address}/fetch', { method: 'POST', mode: 'no-cors', body: 'the model' })],
      ['socket', () => new Promise((resolve, reject) => {
        const socket = new WebSocket('ws://${address}/socket');
        [socket.onopen, socket.onerror] = [resolve, reject];
      })],
      ['import', () => import('http://${address}/import')],
      ['own', () => fetch('${url}worker.js')],
    ].slice(first, last)`;
    const tried = (first, last) => `(async (first, last) => {
      const found = [];
      for (const [name, work] of ${attempts}) {
        found.push(name + ' ' + await work().then(() => 'allowed', () => 'refused'));
      }
      return found.join(', ');
    })(${first}, ${last})`;
    planted = `;${tried(0, 4)}.then((message) => postMessage({ type: 'notice', message }));`;
    const tab = await browser.newPage();
    const inWorker = [];
    for (const query of ['no-cache&res=16', 'res=16', 'res=16&again']) {
      await tab.goto(`${url}planted/?${query}`, { waitUntil: 'load' });
      const warned = await tab.waitForFunction(() => document.getElementById('warnings').textContent, { timeout: 60_000 });
      inWorker.push(await warned.jsonValue());
      // At last the worker is what the offline worker sends.
      if (query === 'res=16') await tab.waitForFunction(() => navigator.serviceWorker.controller, { timeout: 60_000 });
    }
    assert.ok(await tab.evaluate(() => Boolean(navigator.serviceWorker.controller)));
    planted = `;addEventListener('message', ({ source }) => ${tried(0, 1)}.then((found) => source.postMessage(found)));`;
    await tab.goto(`${url}headers/?res=16&model=cube.obj`, { waitUntil: 'load' });
    await tab.waitForFunction(() => document.querySelector('#report dd.hash'), { timeout: 120_000 });
    const inOffline = await tab.evaluate(async () => {
      const { active } = await navigator.serviceWorker.ready;
      const answer = new Promise((resolve) => { navigator.serviceWorker.onmessage = ({ data }) => resolve(data); });
      active.postMessage('try');
      return answer;
    });
    const policy = await tab.$eval('[http-equiv=Content-Security-Policy]', (meta) => meta.content);
    await tab.evaluate(async () => {
      for (const registration of await navigator.serviceWorker.getRegistrations()) await registration.unregister();
      for (const name of await caches.keys()) await caches.delete(name);
    });
    await tab.close();
    other.close();
    assert.equal(policy, header, 'docs/web.md has the policy of the page');
    const refused = 'fetch refused, socket refused, import refused, own allowed';
    assert.deepEqual([inWorker, inOffline, reached], [[refused, refused, refused], 'fetch refused', []]);
  });

  if (hasGpu) {
    await test('every shader compiles without a message', async () => {
      const tab = await opened('no-cache');
      const compiled = await tab.evaluate(async () => {
        const { shaders } = await import('./trivox/trivox.js');
        const adapter = await navigator.gpu.requestAdapter();
        const device = await adapter.requestDevice();
        const list = Object.entries(await shaders());
        const messages = [];
        await Promise.all(list.map(async ([name, code]) => {
          const info = await device.createShaderModule({ code }).getCompilationInfo();
          messages.push(...info.messages.map((m) => `${name}:${m.lineNum}: ${m.type}: ${m.message}`));
        }));
        device.destroy();
        return { count: list.length, messages };
      });
      assert.deepEqual(compiled.messages, []);
      assert.ok(compiled.count > 15);
      return `${compiled.count} shaders`;
    });
  }

  for (const [format, command] of [['vox', []], ['png', ['render']]]) await test(`from files to a .${format} with the bytes of the program`, async () => {
    // A large picture takes minutes on a GPU in software.
    const tab = await opened(`no-cache&res=64${format === 'png' ? '&backend=cpu' : '&dither=true'}`);
    const files = ['obj', 'mtl', 'png'].map((extension) => asset(`lighthouse.${extension}`));
    // A texture that comes after its model is added to it.
    const drops = format === 'png' ? [files] : [files.slice(0, 1), files.slice(1)];
    for (const files of drops) await drop(tab, ...files);
    assert.equal(await text(tab, 'warnings'), format === 'png' ? '' : 'lighthouse.mtl, lighthouse.png: added to lighthouse.obj.');
    const bytes = await downloaded(tab, format);
    const said = (await text(tab, 'command')).split(' ');
    // The texture is lighthouse.png.
    const name = format === 'png' ? 'lighthouse-voxels.png' : `lighthouse.${format}`;
    const out = join(scratch, name);
    assert.deepEqual(said.slice(0, command.length + 4), ['voxelize', ...command, 'lighthouse.obj', '-o', name]);
    // The very command that the page gives.
    execFileSync(program, [...command, asset('lighthouse.obj'), '-o', out, ...said.slice(command.length + 4), '--quiet']);
    assert.equal(await tab.$eval('#saved', (link) => link.download), name);
    assert.ok(bytes.equals(readFileSync(out)), 'bytes differ');
    return `${bytes.length} bytes`;
  });

  await test('each option has its place in the link, the command and the file', async () => {
    const options = {
      'mode': 'solid', 'fill': 'vote', 'include-surface': 'true', 'color': '#40A0C0', 'up': 'z', 'backend': 'cpu', 'voxel-size': '0.25',
      'pad': '2', 'rotate-x': '90', 'rotate-y': '-7.5', 'rotate-z': '30', 'attributes': 'normal,label', 'blend': 'visible', 'distance': '2.5', 'dither': 'true',
    };
    const tab = await opened(`no-cache#${new URLSearchParams(options)}`, { size: SMALL });
    await drop(tab, asset('torus-knot.obj'));
    const link = async () => Object.fromEntries(new URLSearchParams(await tab.evaluate(() => location.hash.slice(1))));
    assert.deepEqual(await link(), { file: 'torus-knot.obj', ...options });
    assert.ok(await tab.$eval('[name=pad]', (field) => field.closest('#more').open), 'what is not by default is shown');
    assert.ok(await tab.$eval('[name=res]', (field) => field.disabled));
    const expected = {
      'npz': '--mode solid --fill vote --include-surface --color #40A0C0 --blend visible --up z --attributes normal,label --backend cpu',
      'vox': '--mode solid --fill vote --include-surface --color #40A0C0 --blend visible --up z --dither --attributes label --backend cpu',
      'vdb distances': '--distance 2.5 --fill vote --up z',
    };
    for (const [choice, rest] of Object.entries(expected)) {
      const bytes = await downloaded(tab, choice);
      const [extension] = choice.split(' ');
      const placed = `voxelize torus-knot.obj -o torus-knot.${extension} --voxel-size 0.25 --pad 2 --rotate x:90 --rotate y:-7.5 --rotate z:30`;
      const command = (await text(tab, 'command')).replaceAll("'", '');
      assert.equal(command, `${placed} ${rest}`);
      const out = join(scratch, `options.${extension}`);
      execFileSync(program, [asset('torus-knot.obj'), '-o', out, ...command.split(' ').slice(4), '--quiet']);
      assert.ok(bytes.equals(readFileSync(out)), `${choice}: bytes differ`);
    }
    await press(tab, '[name=keep-transparent]');
    await job(tab, () => choose(tab, 'mode', 'thin'));
    await tab.select('#format', 'vox');
    assert.match(await text(tab, 'command'), /--mode thin --keep-transparent --color/);
    assert.equal((await link())['keep-transparent'], 'true');
    await tab.select('#format', 'png turntable');
    assert.match(await text(tab, 'command'), /^voxelize torus-knot.obj -o torus-knot.bricks --voxel-size .* && voxelize render torus-knot.bricks -o torus-knot.png --turntable 48 --size 480x480$/);
    // What the module refuses.
    await type(tab, '[name=voxel-size]', '1e-9');
    await tab.waitForFunction(() => /^torus-knot.obj: .*use /.test(document.getElementById('estimate').textContent), { timeout: 60_000 });
    await press(tab, '[data-res="32"]');
    await tab.waitForFunction(() => location.hash.includes('res=32') && !location.hash.includes('voxel-size'));
  });

  await test('a turntable is drawn with progress, and ends when it is cancelled', async () => {
    // Each other file takes a second.
    planted = ';{ const { write } = requests; requests.write = (data) => new Promise((end) => setTimeout(end, 1000)).then(() => write(data)); }';
    const tab = await opened('no-cache&res=16&backend=cpu', { size: SMALL, folder: 'planted/', model: 'cube.obj' });
    await tab.evaluate(() => {
      const bar = document.querySelector('progress');
      new MutationObserver(() => { document.body.dataset.drawnShare = Math.max(document.body.dataset.drawnShare ?? 0, bar.value); })
        .observe(bar, { attributes: true, attributeFilter: ['value'] });
    });
    // The worker writes the next file before it has drawn the turntable.
    const share = async () => {
      await tab.click('#cancel');
      await tab.select('#format', 'vox');
      await job(tab, () => tab.click('#download'));
      assert.match(await text(tab, 'saved-note'), /^cube.vox, /);
      return tab.evaluate(() => Number(document.body.dataset.drawnShare ?? 0));
    };
    // Of a turntable that waits for a file, which was cancelled, nothing is drawn.
    await tab.select('#format', 'vox');
    await tab.click('#download');
    await tab.click('#cancel');
    await tab.select('#format', 'gif turntable');
    await tab.click('#download');
    assert.equal(await share(), 0);
    await tab.select('#format', 'gif turntable');
    assert.equal(await text(tab, 'command'), 'voxelize render cube.obj -o cube.gif --turntable 48 --size 480x480 --res 16');
    await tab.click('#download');
    await tab.waitForFunction(() => document.getElementById('step').textContent === 'draw' && document.querySelector('progress').value > 0);
    const drawn = await share();
    assert.ok(drawn > 0 && drawn < 0.9, `${drawn}`);
  });

  await test('the mesh is drawn where its voxels are; the ruler has its length', async () => {
    // Solid, and cut in the middle: a square of side 1 as far away as the ruler is.
    const tab = await opened('no-cache#res=16&mode=solid&color=%23FF0000&model=cube.obj&view=front&cut=z,7', { size: SMALL });
    await rested(tab, 2);
    const isRed = () => tab.evaluate(() => {
      const canvas = document.getElementById('canvas');
      const { data } = canvas.getContext('2d').getImageData(0, canvas.height >> 1, canvas.width, 1);
      return Array.from({ length: canvas.width }, (_, x) => data[4 * x] > 2 * data[4 * x + 1]);
    });
    const red = (await isRed()).flatMap((is, x) => (is ? [x] : []));
    const [first, last] = [red[0], red.at(-1)];
    const [ruler, label] = await tab.$eval('#ruler', (ruler) => [parseFloat(ruler.style.width), ruler.textContent]);
    const [, length] = label.match(/^([0-9.]+)\u00a0units$/);
    assert.ok(Math.abs(ruler / length / (last + 1 - first) - 1) < 0.02, `${label} in ${ruler} of ${last + 1 - first} pixels`);
    assert.ok(ruler >= 56 && ruler <= 140, `${ruler}`);
    assert.match(await tab.$eval('[data-axis="0"] line', (line) => `${line.getAttribute('x2')},${line.getAttribute('y2')}`), /^45.00,28.00$/);
    const hasWebGl = await tab.evaluate(() => Boolean(document.createElement('canvas').getContext('webgl2')));
    await tab.select('#show', 'both');
    await tab.waitForFunction((isThere) => location.hash.includes('show=both') || (!isThere && document.getElementById('warnings').textContent), {}, hasWebGl);
    if (!hasWebGl) return `skipped: ${kind} has no WebGL 2 here`;
    await rested(tab, 2);
    const half = await isRed();
    const middle = half.length / 2;
    assert.ok(half.slice(middle + 4, last).every((is) => is), 'voxels on the right');
    assert.ok(!half.slice(0, middle).includes(true), 'and the mesh on the left');
    const seen = await tab.evaluate(() => location.hash);
    const { x, y, width, height } = await (await tab.$('#canvas')).boundingBox();
    await tab.mouse.move(x + width / 2 + 5, y + height / 2);
    await tab.mouse.down();
    await tab.mouse.move(x + width / 2 - 40, y + height / 2, { steps: 2 });
    await tab.mouse.up();
    await rested(tab, 2);
    const ratio = half.length / width;
    assert.equal((await isRed()).indexOf(true), Math.round((width / 2 - 40) * ratio) + 1);
    assert.equal(await tab.evaluate(() => location.hash), seen, 'the camera stays');
    await tab.select('#cut-axis', '');
    await tab.select('#show', 'mesh');
    await tab.waitForFunction(() => location.hash.includes('show=mesh') && !location.hash.includes('cut'));
    await rested(tab, 2);
    // Its ends are those of the voxels.
    const ends = () => tab.evaluate(() => {
      const canvas = document.getElementById('canvas');
      const { data } = canvas.getContext('2d').getImageData(0, canvas.height >> 1, canvas.width, 1);
      const isOther = (x) => [0, 1, 2].some((c) => Math.abs(data[4 * x + c] - data[c]) > 20);
      const all = Array.from({ length: canvas.width }, (_, x) => x).filter(isOther);
      return [all[0], all.at(-1)];
    });
    const ofMesh = await ends();
    await tab.select('#show', 'voxels');
    await tab.waitForFunction(() => !location.hash.includes('show'));
    await rested(tab, 2);
    const ofVoxels = await ends();
    assert.ok(ofMesh.every((end, i) => Math.abs(end - ofVoxels[i]) <= 1), `${ofMesh} and ${ofVoxels}`);
  });

  await test('a grid opens, and cannot be computed again', async () => {
    const tab = await opened('no-cache&res=32', { size: SMALL });
    const out = join(scratch, 'grid.npz');
    const made = native(asset('torus-knot.obj'), '--res', '40', '-o', out);
    await drop(tab, out);
    assert.equal(await term(tab, 'hash'), made.hash);
    const isHidden = () => tab.$eval('#verification', (element) => element.hidden);
    assert.ok(await isHidden(), 'a grid cannot be computed again');
    assert.ok(await tab.$eval('#options', (element) => element.disabled), 'nor with other options');
    await drop(tab, asset('torus-knot.obj'));
    assert.ok(!(await isHidden()));
    await job(tab, () => tab.click('#verify'));
    // That in software was not chosen.
    if (!hasGpu || isSoftware) assert.match(await text(tab, 'verdict'), /no GPU to compare with/);
  });

  await test('the command is that of the grid that is shown, and writes another file than the model', async () => {
    const tab = await opened('no-cache&res=32', { model: 'cube.obj' });
    await tab.select('#format', 'obj');
    assert.equal(await text(tab, 'command'), 'voxelize cube.obj -o cube-voxels.obj --res 32');
    const isChanged = () => tab.$eval('#changed', (element) => !element.hidden);
    assert.ok(!(await isChanged()));
    const before = await lastJob(tab, 'started');
    await type(tab, '[name=res]', 2048);
    await tab.waitForFunction(() => /^2048 x 2048 x 2048 voxels for a model of 1 x 1 x 1: [0-9]+\u00a0MB, less than a second/
      .test(document.getElementById('estimate').textContent), { timeout: 60_000 });
    assert.ok(await isChanged());
    assert.equal(await lastJob(tab, 'started'), before, 'a large grid is not computed by itself');
    assert.equal(await text(tab, 'command'), 'voxelize cube.obj -o cube-voxels.obj --res 32');
    await type(tab, '[name=res]', 24);
    await job(tab, () => tab.click('#run'));
    assert.ok(!(await isChanged()));
    assert.match(await text(tab, 'command'), /--res 24$/);
    // A small one is.
    await job(tab, () => choose(tab, 'mode', 'solid'));
    assert.ok(!(await isChanged()));
    assert.match(await text(tab, 'command'), /--res 24 --mode solid$/);
    await job(tab, () => tab.click('[data-res="64"]'));
    assert.equal(await term(tab, 'grid'), '64 x 64 x 64 voxels of 0.015625');
    assert.match(await text(tab, 'estimate'), /^64 x 64 x 64 voxels for a model of 1 x 1 x 1: less than 1.MB, less than a second on the CPU.$/);
    await tab.evaluate(() => { document.querySelector('[name=res]').value = 5000; });
    await drop(tab, asset('cube.obj'));
    assert.match(await text(tab, 'error'), /options is not possible/);
  });

  await test('an example that comes late does not replace the model that was chosen', async () => {
    const tab = await opened('no-cache&res=16');
    await tab.evaluate(() => {
      const fetched = window.fetch;
      window.fetch = async (...args) => {
        const response = await fetched(...args);
        await new Promise((resolve) => setTimeout(resolve, 1000));
        document.body.dataset.late = true;
        return response;
      };
    });
    await tab.click('[data-example="torus-knot.obj"]');
    await drop(tab, asset('cube.obj'));
    await tab.waitForFunction(() => document.body.dataset.late);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.match(await term(tab, 'mesh'), /^cube.obj/);
  });

  await test('of the files of a folder those are read that the model names', async () => {
    const tab = await opened('no-cache&res=16');
    const folder = mkdtempSync(join(scratch, 'gltf-'));
    const floats = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]);
    writeFileSync(join(folder, 'triangle.buffer'), Buffer.from(floats.buffer));
    writeFileSync(join(folder, 'other.bin'), 'of something else');
    writeFileSync(join(folder, 'triangle.gltf'), JSON.stringify({
      asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0 }],
      meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
      accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: 'VEC3', min: [0, 0, 0], max: [1, 1, 0] }],
      bufferViews: [{ buffer: 0, byteLength: 36 }], buffers: [{ byteLength: 36, uri: 'triangle.buffer' }],
    }));
    await drop(tab, join(folder, 'other.bin'));
    assert.match(await text(tab, 'error'), /^other.bin: is a part of a model/);
    await drop(tab, ...['triangle.gltf', 'triangle.buffer', 'other.bin'].map((name) => join(folder, name)));
    assert.equal(await text(tab, 'error'), '');
    assert.match(await term(tab, 'mesh'), /1.triangle$/);
    const rar = join(folder, 'model.rar');
    writeFileSync(rar, 'Rar!');
    await drop(tab, rar);
    assert.match(await text(tab, 'error'), /^model.rar: is an archive: unpack it/);
    assert.equal(await text(tab, 'model-name'), 'triangle.gltf', 'the last model stays');
    await job(tab, () => tab.click('#download'));
    assert.match(await text(tab, 'saved-note'), /^triangle.vox, /);
  });

  await test('a .zip is opened as what is in it, and one that is not whole, encrypted or too large is refused', async () => {
    const tab = await opened('no-cache&res=16', { size: SMALL });
    const parts = ['obj', 'mtl', 'png'].map((extension) => [`a/lighthouse.${extension}`, readFileSync(asset(`lighthouse.${extension}`))]);
    const zipped = join(scratch, 'lighthouse.zip');
    const given = async (bytes) => {
      writeFileSync(zipped, bytes);
      await drop(tab, zipped);
      return text(tab, 'error');
    };
    const whole = archive([['a/', Buffer.alloc(0)], ['__MACOSX/other.obj', Buffer.from('')], ...parts]);
    assert.equal(await given(whole), '');
    assert.equal(await text(tab, 'warnings'), '');
    assert.equal(await text(tab, 'model-name'), 'a/lighthouse.obj');
    const bytes = await downloaded(tab, 'bricks');
    const out = join(scratch, 'zipped.bricks');
    native(asset('lighthouse.obj'), '--res', '16', '-o', out);
    assert.ok(bytes.equals(readFileSync(out)), 'the texture is that of the archive');
    const nested = (bytes) => archive([['source/inner.zip', bytes]]);
    assert.equal(await given(nested(whole)), '');
    assert.equal(await text(tab, 'model-name'), 'a/lighthouse.obj');
    assert.match(await given(nested(nested(nested(whole)))), /inner.zip: is an archive: unpack it/);
    const changed = (field, offset, value, from = whole) => {
      const bytes = Buffer.from(from);
      const at = bytes.lastIndexOf(Buffer.from(field)) + offset;
      bytes.writeUInt32LE((bytes.readUInt32LE(at) | value) >>> 0, at);
      return bytes;
    };
    const wrong = [
      [whole.subarray(0, -1), 'is no whole .zip archive'],
      [changed('PK\x01\x02', 8, 1), 'is encrypted'],
      [changed('PK\x01\x02', 10, 1), 'has a/lighthouse.png in a compression that browsers do not know'],
      [changed('PK\x05\x06', 16, 0xffffffff), 'is an archive in the format Zip64'],
      [changed('PK\x01\x02', 24, 0x40000000), 'has files of more than 1,000,000,000 bytes together'],
      [changed('PK\x01\x02', 24, 0x20000000), 'has a damaged file, a/lighthouse.png'],
      [changed('PK\x01\x02', 16, 0xffffffff), 'has a damaged file, a/lighthouse.png'],
      [changed('PK\x01\x02', 16, 0xffffffff, archive([parts[0]])), 'has a damaged file, a/lighthouse.obj'],
      [changed('PK\x01\x02', 42, 0x20000000), 'is a damaged archive'],
      [archive([['bomb.obj', Buffer.alloc(1 << 24)]], 100), 'has a damaged file, bomb.obj'],
    ];
    for (const [bytes, why] of wrong) assert.equal(await given(bytes), `lighthouse.zip: ${why}: unpack it, and drop what is in it`);
    assert.ok(await term(tab, 'hash'), 'the last result stays');
  });

  await test('of several models one is opened, others can be chosen; its files are not overwritten', async () => {
    const tab = await opened('no-cache&res=16');
    const vox = join(scratch, 'cube.vox');
    native(asset('cube.obj'), '--res', '16', '-o', vox);
    const isChooserShown = () => tab.$eval('#models', (models) => models.checkVisibility());
    await drop(tab, vox, asset('torus-knot.obj'), asset('cube.obj'));
    assert.ok(await isChooserShown());
    assert.match(await term(tab, 'mesh'), /^cube.obj/);
    assert.equal(await text(tab, 'command'), 'voxelize cube.obj -o cube-voxels.vox --res 16');
    await job(tab, () => tab.select('#models', 'torus-knot.obj'));
    assert.match(await term(tab, 'mesh'), /^torus-knot.obj/);
    await job(tab, () => tab.select('#models', 'cube.vox'));
    assert.match(await term(tab, 'file'), /^cube.vox/);
    await drop(tab, asset('cube.obj'));
    assert.ok(!(await isChooserShown()));
    const other = join(scratch, 'other.vox');
    native(asset('cube.obj'), '--res', '16', '-o', other);
    await drop(tab, vox, other);
    assert.match(await term(tab, 'file'), /^cube.vox/);
  });

  await test('files that cannot be opened end a job in progress, and leave the result', async () => {
    const tab = await opened('no-cache&res=16', { model: 'cube.obj' });
    // The drop comes while the worker still verifies.
    const other = join(scratch, 'model.7z');
    writeFileSync(other, '7z');
    const input = await tab.$('#files');
    await input.uploadFile(other);
    await tab.waitForFunction(() => document.getElementById('error').textContent.includes('unpack'));
    const result = () => tab.$eval('#actions', (actions) => !actions.hidden);
    assert.ok(await result());
    await tab.evaluate(() => {
      document.getElementById('verify').click();
      const transfer = new DataTransfer();
      transfer.items.add(new File(['Rar!'], 'late.rar'));
      dispatchEvent(new DragEvent('drop', { dataTransfer: transfer }));
    });
    await tab.waitForFunction(() => document.getElementById('error').textContent.includes('late.rar'));
    assert.ok(await result());
    assert.equal(await text(tab, 'verdict'), '');
    await job(tab, () => tab.click('#download'));
    assert.match(await text(tab, 'saved-note'), /^cube.vox, /);
  });

  await test('a download that is cancelled leaves the result, and one that is dismissed a link to the file', async () => {
    const tab = await opened('no-cache&res=16', { size: SMALL, model: 'cube.obj' });
    const hash = await term(tab, 'hash');
    await tab.evaluate(() => {
      document.getElementById('download').click();
      document.getElementById('cancel').click();
    });
    assert.equal(await text(tab, 'saved-note'), '');
    assert.equal(await term(tab, 'hash'), hash);
    await job(tab, () => tab.click('#download'));
    assert.match(await text(tab, 'saved-note'), /^cube.vox, [0-9,]+.bytes$/);
    const link = () => tab.$eval('#saved', (link) => [link.textContent, link.download, link.href.slice(0, 5)]);
    assert.deepEqual(await link(), ['cube.vox', 'cube.vox', 'blob:']);
    assert.ok((await (await tab.$('#saved')).boundingBox()).height > 0, 'the link is shown');
    await job(tab, () => tab.click('#verify'));
    assert.deepEqual(await link(), ['cube.vox', 'cube.vox', 'blob:']);
    // The next model is not computed after what was cancelled, but at once.
    await tab.evaluate(() => {
      document.getElementById('verify').click();
      document.getElementById('cancel').click();
    });
    await drop(tab, asset('torus-knot.obj'));
    assert.match(await term(tab, 'mesh'), /^torus-knot.obj/);
    assert.equal((await link())[0], '', 'it was the file of another grid');
  });

  await test('a file that the browser has no room for is refused, and the result stays', async () => {
    // Firefox evaluates nothing in a worker. There is no room for the page's copy of the grid, either.
    planted = `;{
      const given = Blob.prototype.arrayBuffer;
      Blob.prototype.arrayBuffer = async function failing() {
        if (this instanceof File) return given.call(this);
        throw new DOMException('failed', 'NotReadableError');
      };
    }`;
    const tab = await opened('no-cache&res=16', { size: SMALL, folder: 'planted/', model: 'cube.obj' });
    await tab.select('#format', 'npy');
    await job(tab, () => tab.click('#download'));
    assert.match(await text(tab, 'error'), /^the .npy file has 4,224 bytes, for which the browser has no room/);
    assert.equal(await text(tab, 'saved-note'), '');
    assert.ok(await term(tab, 'hash'));
  });

  await test('a picture that the browser has no memory for is left out, and the page says so once', async () => {
    planted = `;{
      presents = false;
      const given = createImageBitmap;
      let count = 0;
      globalThis.createImageBitmap = async (pixels) => {
        count += 1;
        if (count <= 3) throw new DOMException('failed', 'InvalidStateError');
        return given(pixels);
      };
    }`;
    const tab = await opened('no-cache&res=16', { size: SMALL, folder: 'planted/', model: 'cube.obj' });
    await rested(tab);
    assert.deepEqual(await tab.$$eval('#warnings li', (items) => items.map((item) => item.textContent.match(/^Parts of the picture are missing/)?.[0])),
      ['Parts of the picture are missing']);
    assert.equal(await text(tab, 'error'), '');
    await drawn(tab);
  });

  await test('a text that is dropped ends nothing', async () => {
    const tab = await opened('no-cache&res=16', { size: SMALL, model: 'cube.obj' });
    const before = await lastJob(tab, 'started');
    await tab.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.setData('text/plain', 'a text');
      dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
    });
    assert.equal(await lastJob(tab, 'started'), before);
  });

  await test('on a phone the keyboard goes down the page', async () => {
    const tab = await opened('no-cache&res=16', { size: SMALL, model: 'cube.obj' });
    await tab.setViewport({ width: 390, height: 844 });
    const isFolded = () => tab.$eval('[name=res]', (field) => !field.checkVisibility());
    assert.ok(await isFolded());
    await tab.evaluate(() => { document.getElementById('fold').open = true; });
    assert.ok(!(await isFolded()));
    // The picture is in sight, and controls have the size of a finger.
    const bottom = await tab.$eval('#canvas', (canvas) => canvas.getBoundingClientRect().bottom + scrollY);
    assert.ok(bottom < 600, `the picture ends at ${bottom}`);
    const low = await tab.$$eval('button, select, input, summary, nav a', (controls) => controls.filter((control) => {
      const { height } = control.getBoundingClientRect();
      return height > 0 && height < 44 && control.type !== 'checkbox';
    }).map(({ id, name }) => id || name));
    assert.deepEqual(low, []);
    const passed = [];
    for (;;) {
      await tab.keyboard.press('Tab');
      const focused = await tab.evaluate(() => {
        const { top, bottom } = document.activeElement.getBoundingClientRect();
        const { id, name, textContent } = document.activeElement;
        return { name: id || name || textContent, top: top + scrollY, bottom: bottom + scrollY };
      });
      if (passed.length > 0 && (focused.name === passed[0].name || focused.name === '')) break;
      assert.ok(passed.length < 60, 'the keyboard leaves the page at its end');
      if (focused.name === passed.at(-1)?.name) continue;
      const above = passed.find(({ top }) => focused.bottom <= top);
      assert.ok(!above, `${focused.name} comes after ${above?.name}, and is above it`);
      passed.push(focused);
    }
    const names = passed.map(({ name }) => name);
    for (const name of ['choose-files', 'res', 'run', 'canvas', 'download', 'copy-link']) assert.ok(names.includes(name), `${names}`);
    return `${passed.length} controls`;
  });

  await test('a saved picture is of the model that is shown, and is saved once', async () => {
    const tab = await opened('no-cache&res=16', { model: 'torus-knot.obj' });
    await drawn(tab);
    const when = await tab.evaluate(() => new Promise((resolve) => {
      const canvas = document.getElementById('canvas');
      let saved = 0;
      canvas.toBlob = () => {
        saved += 1;
        const first = [canvas.dataset.samples, document.getElementById('model-name').textContent];
        setTimeout(() => resolve([...first, saved]), 500);
      };
      const button = document.getElementById('picture');
      // As soon as the next model is there, before it is drawn.
      const observer = new MutationObserver(() => {
        if (button.disabled) return;
        observer.disconnect();
        button.click();
        button.click();
      });
      observer.observe(button, { attributes: true, attributeFilter: ['disabled'] });
      document.querySelector('[data-example="cube.obj"]').click();
    }));
    assert.ok(when[0] >= 1, `samples: ${when[0]}`);
    assert.equal(when[1], 'cube.obj');
    assert.equal(when[2], 1);
  });

  await test('the picture of the model before is pale until the next is drawn', async () => {
    const tab = await opened('no-cache&res=32&backend=cpu', { model: 'torus-knot.obj' });
    await rested(tab);
    const found = await tab.evaluate(() => new Promise((resolve) => {
      const canvas = document.getElementById('canvas');
      // There the cube is, and not the knot.
      const isCube = () => canvas.getContext('2d').getImageData(0.3 * canvas.width, 0.75 * canvas.height, 1, 1).data[0] < 170;
      const before = isCube();
      let wasStale = false;
      new MutationObserver(() => {
        const isStale = document.body.classList.contains('stale');
        if (wasStale && !isStale) resolve([before, isCube()]);
        wasStale = isStale;
      }).observe(document.body, { attributes: true, attributeFilter: ['class'] });
      document.querySelector('[data-example="cube.obj"]').click();
    }));
    assert.deepEqual(found, [false, true]);
  });

  await test('a screen reader hears what is done, and which keys the view takes', async () => {
    const tab = await opened('no-cache&res=16', { size: SMALL, model: 'cube.obj' });
    assert.equal(await text(tab, 'status'), 'Done: 16 by 16 by 16 voxels, 1,352 of them occupied');
    // A reader passes keys on to an application only.
    assert.equal(await tab.$eval('#canvas', (canvas) => canvas.getAttribute('role')), 'application');
    await tab.evaluate(() => { navigator.clipboard.writeText = async () => {}; });
    await tab.click('#copy-command');
    await tab.waitForFunction(() => document.getElementById('status').textContent === 'Copied');
    await tab.evaluate(() => {
      const step = document.getElementById('step');
      document.body.dataset.steps = '';
      new MutationObserver(() => {
        document.body.dataset.steps += `${step.textContent}|`;
        // A reader may be silent about what is in a busy element.
        for (const element of document.querySelectorAll('[aria-busy=true], [aria-busy=true] :is([role=status], [role=alert], [aria-live])')) {
          document.body.dataset[element.role ?? 'live'] = element.id;
        }
      }).observe(step, { childList: true });
    });
    await tab.evaluate(() => { document.querySelector('[name=res]').value = 1500; });
    await choose(tab, 'mode', 'solid');
    await job(tab, () => tab.click('#run'));
    const steps = (await tab.evaluate(() => document.body.dataset.steps)).split('|').slice(0, -1);
    const busy = await tab.evaluate(() => ['application', 'status', 'alert', 'live'].map((role) => document.body.dataset[role]).filter(Boolean));
    assert.deepEqual(busy, ['canvas']);
    assert.ok(steps.includes('voxelize'), `${steps}`);
    assert.ok(steps.every((step, index) => step !== steps[index + 1]), `a step is read out twice: ${steps}`);
  });

  await test('a broken file gives the message of the program, and the next one works', async () => {
    const tab = await opened('no-cache&res=32');
    const broken = join(scratch, 'broken.obj');
    writeFileSync(broken, 'v 0 0 0\nv 1 0 0\nf 1 2 9\n');
    await drop(tab, broken);
    let expected = '';
    try {
      execFileSync(program, [broken, '--res', '32'], { encoding: 'utf8', stdio: 'pipe' });
    } catch (error) {
      expected = error.stderr;
    }
    const message = await text(tab, 'error');
    assert.ok(message.startsWith('broken.obj: ') && expected.includes(message.slice('broken.obj: '.length)),
      `'${message}', not '${expected}'`);
    await drop(tab, asset('cube.obj'));
    assert.equal(await text(tab, 'error'), '');
    assert.ok(await term(tab, 'hash'));
    return message;
  });

  if (hasGpu && kind === 'chromium') {
    await test('a GPU that is lost: the CPU takes its place and says so, until there is a GPU again', async () => {
      const tab = await opened('no-cache&res=64', { folder: 'gpu/', size: SMALL });
      // The next command destroys the device, and for a moment there is no adapter.
      const lose = () => tab.workers()[0].evaluate(() => {
        const once = (owner, name, work) => {
          const given = owner[name];
          owner[name] = function replaced(...args) {
            owner[name] = given;
            return work.call(this, given, args);
          };
        };
        once(GPUDevice.prototype, 'createCommandEncoder', function lost(given, args) {
          this.destroy();
          once(GPU.prototype, 'requestAdapter', async () => null);
          return given.apply(this, args);
        });
      });
      // Chromium without a display loses its GPU when it presents: not here.
      await tab.workers()[0].evaluate(() => { OffscreenCanvas.prototype.getContext = () => null; });
      await lose();
      await drop(tab, asset('torus-knot.obj'));
      assert.equal(await text(tab, 'error'), '');
      assert.match(await text(tab, 'warnings'), /computed on the CPU instead/);
      const expected = native(asset('torus-knot.obj'), '--res', '64', '--backend', 'cpu');
      assert.equal(await term(tab, 'hash'), expected.hash);
      await drawn(tab);
      await drop(tab, asset('cube.obj'));
      assert.match(await term(tab, 'backend'), /^gpu, /, await text(tab, 'warnings'));
      await rested(tab);
      await lose();
      await tab.evaluate(() => { delete document.getElementById('canvas').dataset.samples; });
      await tab.focus('#canvas');
      await tab.keyboard.press('ArrowLeft');
      await rested(tab);
      await drop(tab, asset('torus-knot.obj'));
      assert.match(await term(tab, 'backend'), /^gpu, /, await text(tab, 'warnings'));
      await tab.close();
      // What the browser says of the lost device is expected here; nothing comes after the end of the tab.
      faults.length = 0;
    });
  }

  await test('cancel ends the work and leaves the last result, and two files in a row end with the second', async () => {
    const tab = await opened('no-cache&res=1024&backend=cpu&mode=solid&fill=vote', { size: SMALL });
    const input = await tab.$('#files');
    // Cancels from within the page at the first message of progress: the message of the end comes after it.
    const cancelSoon = () => tab.evaluate(() => {
      const observer = new MutationObserver(() => {
        if (['', 'reading'].includes(document.getElementById('step').textContent)) return;
        observer.disconnect();
        document.getElementById('cancel').click();
      });
      observer.observe(document.getElementById('step'), { childList: true });
    });
    const cancelled = () => tab.waitForFunction(
      () => /cancelled/.test(document.getElementById('model-name').textContent), { timeout: 60_000 });
    await cancelSoon();
    await input.uploadFile(asset('torus-knot.obj'));
    await cancelled();
    assert.equal(await tab.evaluate(() => document.getElementById('canvas').ariaBusy), 'false');
    const before = await lastJob(tab, 'started');
    await input.uploadFile(asset('torus-knot.obj'));
    await reached(tab, 'started', before);
    await tab.evaluate(() => { document.querySelector('[name=res]').value = 16; });
    await drop(tab, asset('cube.obj'));
    assert.match(await term(tab, 'mesh'), /^cube.obj/);
    const [hash, first] = [await term(tab, 'hash'), await downloaded(tab, 'vox')];
    await tab.evaluate(() => { document.querySelector('[name=res]').value = 1024; });
    await cancelSoon();
    await input.uploadFile(asset('torus-knot.obj'));
    await cancelled();
    assert.match(await text(tab, 'changed'), /still that of cube.obj: press Voxelize for torus-knot.obj/);
    assert.equal(await term(tab, 'hash'), hash);
    // The new worker draws, writes and verifies it.
    await rested(tab);
    assert.ok((await downloaded(tab, 'vox')).equals(first));
    assert.equal(await text(tab, 'saved'), 'cube.vox');
    await job(tab, () => tab.click('#verify'));
    assert.ok((await text(tab, 'verdict')).includes(hash));
  });

  await test('a link names the file to drop, and has its view and cut', async () => {
    const tab = await opened('no-cache#file=cube.obj&res=16&view=0.5,0.25,2,0,0.1&cut=y,4', { size: SMALL });
    assert.equal(await text(tab, 'model-name'), 'Drop cube.obj here again: it never left its machine.');
    await drop(tab, asset('cube.obj'));
    assert.deepEqual(await tab.evaluate(() => [document.getElementById('cut-axis').value, document.getElementById('layer').value]), ['y', '4']);
    const link = () => tab.evaluate(() => location.href.split('#')[1]);
    assert.equal(decodeURIComponent(await link()), 'file=cube.obj&view=0.5,0.25,2,0,0.1&cut=y,4&res=16');
    const seen = async () => new URLSearchParams(await link()).get('view').split(',').map(Number);
    const { x, y, width, height } = await (await tab.$('#canvas')).boundingBox();
    await tab.mouse.move(x + width - 1, y + height / 2);
    await tab.mouse.wheel({ deltaY: -462 });
    await tab.waitForFunction(() => location.hash.includes('%2C3.999%2C'));
    // The width is the longer side. What was at its end still is, and the middle came half as near to it.
    const [, , , pan] = await seen();
    assert.ok(Math.abs(pan - (2 / 4) * (width / 2 - 1) / height) < 0.01, `${pan}`);
    await tab.click('#turn');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await tab.click('#turn');
    await tab.waitForFunction((yaw) => Number(new URLSearchParams(location.hash.slice(1)).get('view').split(',')[0]) !== yaw, {}, 0.5);
    await tab.click('#full');
    await tab.waitForFunction(() => document.fullscreenElement?.id === 'view' && document.getElementById('canvas').clientHeight > innerHeight / 2);
    await tab.click('#full');
    await tab.waitForFunction(() => !document.fullscreenElement);
    await tab.$eval('#view', (view) => { view.requestFullscreen = async () => { throw new TypeError('not granted'); }; });
    await tab.click('#full');
    await tab.waitForFunction(() => document.getElementById('error').textContent === 'The browser refused the full screen: not granted');
    await tab.select('#preset', 'front');
    await tab.waitForFunction(() => location.hash.includes('view=front'));
    await tab.reload();
    assert.equal(await text(tab, 'model-name'), 'Drop cube.obj here again: it never left its machine.');
  });

  await test('a cut goes by the number of a layer, and the voxel under the pointer is named', async () => {
    const tab = await opened('no-cache&res=16&mode=solid&color=%2340A0C0', { size: SMALL, model: 'cube.obj' });
    await tab.select('#preset', 'front');
    await tab.select('#cut-axis', 'z');
    const layer = () => tab.evaluate(() => ['cut', 'layer'].map((id) => [document.getElementById(id).value, document.getElementById(id).max].join()));
    assert.deepEqual(await layer(), ['7,15', '7,15']);
    await type(tab, '#layer', 3);
    assert.deepEqual(await layer(), ['3,15', '3,15']);
    await tab.waitForFunction(() => location.hash.includes('cut=z%2C3&') && document.getElementById('canvas').dataset.samples);
    const { x, y, width, height } = await (await tab.$('#canvas')).boundingBox();
    const under = () => tab.$eval('#under', (element) => (element.hidden ? null : element.textContent.trim().replaceAll('\u00a0', ' ')));
    const named = async (right, down, expected) => {
      await tab.mouse.move(x + width / 2 + right, y + height / 2 + down);
      await tab.waitForFunction((expected) => {
        const element = document.getElementById('under');
        return element.hidden === (expected === null) && (element.hidden || element.textContent.trim().replaceAll('\u00a0', ' ') === expected);
      }, { timeout: 10_000 }, expected).catch(async () => assert.equal(await under(), expected));
    };
    await named(3, -3, 'x 8, y 8, z 3, #40A0C0');
    await named(-3, 3, 'x 7, y 7, z 3, #40A0C0');
    await named(2 - width / 2, 2 - height / 2, null);
    // In a finer grid the cut stays where it is.
    await job(tab, () => press(tab, '[data-res="32"]'));
    assert.deepEqual(await layer(), ['7,31', '7,31']);
    await tab.select('#cut-axis', '');
    await named(3, -3, 'x 16, y 16, z 31, #40A0C0');
    const drawings = await tab.$$eval('.choices svg', (all) => all.map((one) => one.getBoundingClientRect().width));
    assert.ok(drawings.length === 8 && drawings.every((width) => width >= 24 && width <= 40), `${drawings}`);
  });

  await test('the view shows voxels, moves, and comes to rest; nothing shifts', async () => {
    const tab = await opened('no-cache&model=lighthouse.obj&res=96');
    await reached(tab, 'finished', 0);
    await drawn(tab);
    const first = await tab.evaluate(() => document.body.dataset.first);
    // At rest: pictures of a view that moves come from what is pressed now.
    await rested(tab);
    await tab.evaluate(() => { delete document.body.dataset.frame; });
    await tab.focus('#canvas');
    let frame;
    // A machine that does much else may see that it moved only when it is at rest again.
    for (let i = 0; !frame && i < 100; i += 1) {
      await tab.keyboard.press('ArrowLeft');
      await new Promise((resolve) => setTimeout(resolve, 300));
      frame = await tab.evaluate(() => document.body.dataset.frame);
    }
    assert.ok(frame);
    for (const [name, width, height] of [['wide', 1400, 900], ['laptop', 1366, 640], ['tablet', 900, 1350], ['phone', 390, 1900], ['narrow', 320, 1900]]) {
      await tab.setViewport({ width, height });
      await tab.waitForFunction((width) => {
        const canvas = document.getElementById('canvas');
        const pixels = Math.round(canvas.clientWidth * Math.min(2, devicePixelRatio));
        return innerWidth === width && canvas.width === pixels && canvas.dataset.samples;
      }, { timeout: 120_000 }, width);
      await tab.screenshot({ path: join(shots, `${kind}-${name}.png`) });
      const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${name}: ${overflow} pixels wider than the screen`);
      for (const id of ['run', 'picture']) {
        const { bottom } = await tab.$eval(`#${id}`, (button) => button.getBoundingClientRect().toJSON());
        assert.ok(width < 1000 || bottom <= height, `${name}: ${id} is at ${bottom}`);
      }
    }
    const drawnBy = await tab.evaluate(() => document.body.dataset.drawn);
    return `a moving frame took ${frame} ms, the first came after ${first} ms, ${drawnBy}`;
  });

  if (hasGpu) {
    await test('a picture that is presented has the pixels that are read back', async () => {
      // Chromium without a display has no canvas for WebGPU by default: its other tests see the fall back.
      const by = kind === 'chromium' ? await launch('--use-gl=angle', '--use-angle=gl-egl', '--ignore-gpu-blocklist') : browser;
      const tab = await opened('no-cache&res=32', { by, folder: 'gpu/' });
      const { error, different, twins } = await tab.evaluate(async () => {
        const { Voxelizer } = await import('./trivox/trivox.js');
        const voxelizer = await Voxelizer.open({ gpu: 'software' });
        const bytes = new Uint8Array(await (await fetch('examples/torus-knot.obj')).arrayBuffer());
        const mesh = { name: 'torus-knot.obj', bytes };
        const grid = await voxelizer.voxelize(mesh, { res: 64, backend: 'cpu' });
        const viewer = voxelizer.viewer(grid);
        const onCpu = (await Voxelizer.open({ gpu: false })).viewer(grid);
        const [different, twins] = [[], []];
        for (const [size, rows] of [[[80, 60], [0, 60]], [[81, 53], [7, 40]]]) {
          const view = {
            size, rows, yaw: 0.6, pitch: 0.4, zoom: 1, pan: [0, 0], samples: 2, hasShadow: true, cut: [0, 38],
            background: [[250, 250, 248], [214, 219, 216]],
          };
          const bytes = await viewer.draw(view);
          const pixels = new Uint32Array(bytes.buffer);
          const far = (await onCpu.draw(view)).filter((byte, i) => Math.abs(byte - bytes[i]) > 3);
          twins.push(far.length / bytes.length);
          const image = await viewer.present(view).catch((error) => error.message);
          if (typeof image === 'string') return { error: image };
          const { width, height } = image;
          const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
          context.drawImage(image, 0, 0);
          const shown = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
          different.push([shown.length, new Set(shown).size > 100, shown.filter((pixel, i) => pixel !== pixels[i]).length]);
        }
        return { different, twins };
      });
      if (!error && kind === 'chromium') {
        await job(tab, () => tab.click('[data-example="cube.obj"]'));
        await drawn(tab);
        assert.equal(await tab.evaluate(() => document.body.dataset.drawn), 'presented');
      }
      if (by !== browser) await by.close();
      if (error) {
        assert.ok(!(process.env.TRIVOX_PRESENT ?? '').split(' ').includes(kind), `presenting is promised: ${error}`);
        return `skipped: ${error}`;
      }
      assert.deepEqual(different, [[80 * 60, true, 0], [81 * 40, true, 0]]);
      assert.ok(twins.every((share) => share < 0.002), `of the bytes of the CPU ${twins} are others`);
      return `of the bytes of the CPU ${twins} are others`;
    });
  }

  if (kind === 'chromium') {
    await test('nothing keeps the page from answering for 50 ms', async () => {
      // Time on the processor, from the trace of the browser: what else the machine does is not in it.
      const worst = {};
      let tab;
      const traced = async (step, work) => {
        const tracing = async (page) => { await page.tracing.start({ categories: ['toplevel', 'disabled-by-default-devtools.timeline'] }); };
        if (tab) await tracing(tab);
        await work(tracing);
        // The last task answers before it ends, and is in the trace only then.
        await tab.evaluate(() => 0);
        const { traceEvents } = JSON.parse(Buffer.from(await tab.tracing.stop()).toString());
        const of = ({ pid, tid }) => `${pid} ${tid}`;
        const mains = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(of);
        const tasks = traceEvents.filter((event) => event.tdur !== undefined && mains.includes(of(event)));
        assert.ok(tasks.length > 0, `${step}: nothing was traced`);
        worst[step] = Math.max(...tasks.map((event) => event.tdur)) / 1000;
      };
      await traced('open', async (tracing) => { tab = await opened('no-cache&res=256&backend=cpu', { prepare: tracing }); });
      const model = readFileSync(asset('torus-knot.obj'), 'utf8');
      await traced('drop and voxelize', () => job(tab, () => tab.evaluate((model) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([model], 'torus-knot.obj'));
        dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      }, model)));
      await traced('fly', async () => {
        const { x, y } = await (await tab.$('#canvas')).boundingBox();
        await tab.mouse.move(x + 100, y + 100);
        await tab.mouse.down();
        await tab.mouse.move(x + 300, y + 200, { steps: 30 });
        await tab.mouse.up();
        await rested(tab);
      });
      for (const extension of ['vox', 'vti']) {
        await tab.select('#format', extension);
        await traced(`download .${extension}`, () => job(tab, () => tab.click('#download')));
      }
      const busy = 'a loop';
      await traced(busy, () => tab.evaluate(() => {
        const end = performance.now() + 500;
        while (performance.now() < end);
      }));
      assert.ok(worst[busy] >= 50, `a loop of 500 ms was not found: ${worst[busy]} ms`);
      delete worst[busy];
      for (const [step, ms] of Object.entries(worst)) assert.ok(ms < 50, `${step}: a task of ${ms} ms`);
      return Object.entries(worst).map(([step, ms]) => `${step} ${ms.toFixed(0)} ms`).join(', ');
    });
  }

  await test('works without a network once it was loaded', async () => {
    const tab = await opened('res=32');
    const caches = () => tab.evaluate(() => window.caches.keys());
    await tab.waitForFunction(() => navigator.serviceWorker.controller, { timeout: 60_000 });
    const [own, ...more] = await caches();
    assert.ok(own.startsWith(`trivox ${url} `) && more.length === 0, `${own} ${more}`);
    // A new version deletes the old ones of this page only.
    const old = `trivox ${url} old`;
    await tab.evaluate(async (names) => {
      for (const name of names) await window.caches.open(name);
      await (await navigator.serviceWorker.ready).unregister();
    }, [old, 'of another page']);
    // Chromium forgets a service worker once no page has it: then the next page installs one anew.
    await tab.goto('about:blank');
    await tab.goto(`${url}?res=32`, { waitUntil: 'load' });
    await tab.waitForFunction(async (old) => navigator.serviceWorker.controller
      && !(await window.caches.keys()).includes(old), { timeout: 60_000 }, old);
    assert.deepEqual((await caches()).sort(), ['of another page', own]);
    isDown = true;
    server.closeAllConnections();
    await tab.goto(`${url}?res=32&model=cube.obj`, { waitUntil: 'load' });
    await tab.waitForFunction(() => document.querySelector('#report dd.hash'), { timeout: 60_000 });
    isDown = false;
    assert.equal(await term(tab, 'grid'), '32 x 32 x 32 voxels of 0.03125');
  });

  await test('no error on the console', async () => {
    assert.deepEqual(faults, []);
  });
} finally {
  await browser.close();
  server.close();
  rmSync(scratch, { recursive: true });
}
if (kind === 'chromium') {
  const opening = import(join(root, 'dist/npm/trivox.js')).then(async (own) => ({ ...own, voxelizer: await own.Voxelizer.open() }));
  await test('the package opens', async () => {
    assert.equal((await opening).voxelizer.adapter, null);
  });
  const { Grid, Mesh, formats, onProgress, voxelizer } = await opening;
  const fileOf = (name) => ({ name, bytes: readFileSync(asset(name)) });
  const lighthouse = ['obj', 'mtl', 'png'].map((extension) => fileOf(`lighthouse.${extension}`));
  const VIEW = {
    yaw: 0, pitch: 0, zoom: 1, pan: [0, 0], samples: 1, hasShadow: false, cut: null, background: [[0, 0, 0], [0, 0, 0]],
  };
  await test('the package in Node has the native hash', async () => {
    const out = join(made, 'cube.vox');
    const printed = execFileSync('node', [join(root, 'dist/npm/example.mjs'), asset('cube.obj'), out, '64'], { encoding: 'utf8' });
    const expected = native(asset('cube.obj'), '--res', '64', '--backend', 'cpu');
    assert.ok(printed.includes(expected.hash), printed);
  });
  await test('the example in the README of the package has the native hash', async () => {
    const readme = readFileSync(join(root, 'dist/npm/README.md'), 'utf8');
    const folder = join(made, 'example');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    symlinkSync(join(root, 'dist/npm'), join(folder, 'node_modules/trivox'));
    writeFileSync(join(folder, 'example.mjs'), readme.match(/```js\n([^]*?)```/)[1]);
    copyFileSync(asset('cube.obj'), join(folder, 'model.obj'));
    const printed = execFileSync('node', ['example.mjs'], { cwd: folder, encoding: 'utf8' });
    const out = join(folder, 'native.vox');
    const expected = native(asset('cube.obj'), '--res', '128', '--mode', 'solid', '--backend', 'cpu', '-o', out);
    assert.ok(printed.includes(expected.hash), printed);
    assert.deepEqual(readFileSync(join(folder, 'model.vox')), readFileSync(out));
    // Those of arrays.
    const blocks = readme.split('## Arrays in')[1].split('## In a page')[0].matchAll(/```js\n([^]*?)```/g);
    const names = ['voxelizer', 'Mesh', 'positions', 'indices', 'colors', 'bytes'];
    const given = [voxelizer, Mesh, [0, 0, 0, 1, 0, 0, 0, 1, 1], [0, 1, 2], new Uint8Array(9), readFileSync(asset('cube.obj'))];
    const run = ([, code]) => (Object.getPrototypeOf(async () => {}).constructor)(...names, code)(...given);
    assert.equal((await Promise.all([...blocks].map(run))).length, 2);
  });
  await test('the package places meshes as the program does', async () => {
    const mesh = fileOf('torus-knot.obj');
    const cases = [
      [{ cube: 24 }, ['--cube', '24']],
      [{ dims: [32, 20, 40], voxelSize: 0.25 }, ['--dims', '32,20,40', '--voxel-size', '0.25']],
      [{ res: 40, bounds: [[-1, -1, -1], [2, 1, 1]], pad: 1 }, ['--res', '40', '--bounds=-1,-1,-1,2,1,1', '--pad', '1']],
      [
        { res: 40, scale: 2, rotate: ['x:90', 'z:30'], center: true, mode: 'solid', interiorColor: '#102030' },
        ['--res', '40', '--scale', '2', '--rotate', 'x:90', '--rotate', 'z:30', '--center', '--mode', 'solid'],
      ],
    ];
    for (const [options, args] of cases) {
      const grid = await voxelizer.voxelize(mesh, options);
      const expected = native(asset('torus-knot.obj'), ...args, '--backend', 'cpu');
      assert.deepEqual([grid.hash, grid.dims], [expected.hash, expected.dims], args.join(' '));
    }
    // The hash has no colours.
    const out = join(made, 'interior.bricks');
    const grid = await voxelizer.voxelize(lighthouse[0], { res: 24, mode: 'solid', interiorColor: '#102030' }, lighthouse.slice(1));
    native(asset('lighthouse.obj'), '--res', '24', '--mode', 'solid', '--interior-color', '#102030', '--backend', 'cpu', '-o', out);
    assert.deepEqual(Buffer.from(grid.write('bricks')), readFileSync(out));
  });
  await test('the colours of the package are those of its voxels, in their order', async () => {
    const triangle = (x, color) => ['0 0', '8 0', '0 8'].map((yz) => `v ${x} ${yz} ${color}`);
    const lines = [...triangle(0, '1 0 0'), ...triangle(16, '0 0 1'), 'f 1 2 3', 'f 4 5 6'];
    const mesh = { name: 'two.obj', bytes: Buffer.from(lines.join('\n')) };
    const grid = await voxelizer.voxelize(mesh, { res: 16 });
    const [voxels, colors] = [grid.voxels(), grid.colors()];
    assert.deepEqual([voxels.length, colors.length], [3 * grid.occupied, 4 * grid.occupied]);
    assert.ok(grid.occupied > 50);
    for (let i = 0; i < grid.occupied; i += 1) {
      const expected = voxels[3 * i] < 8 ? [255, 0, 0, 255] : [0, 0, 255, 255];
      assert.deepEqual([...colors.subarray(4 * i, 4 * i + 4)], expected, `voxel ${i}`);
    }
  });
  await test('the package takes arrays as it takes a file of them', async () => {
    const [positions, indices] = [[], []];
    for (const line of readFileSync(asset('torus-knot.obj'), 'utf8').split('\n')) {
      const [word, ...rest] = line.trim().split(/\s+/);
      const corners = rest.map((part) => Number(part.split('/')[0]));
      if (word === 'v') positions.push(...corners);
      for (let i = 2; word === 'f' && i < corners.length; i += 1) indices.push(...[0, i - 1, i].map((n) => corners[n] - 1));
    }
    const file = fileOf('torus-knot.obj');
    const expected = await voxelizer.voxelize(file, { res: 40, color: 'none' });
    const arrays = { positions: new Float64Array(positions), indices: new Uint32Array(indices) };
    assert.equal((await voxelizer.voxelize(arrays, { res: 40 })).hash, expected.hash);
    const soup = { positions: indices.flatMap((index) => positions.slice(3 * index, 3 * index + 3)) };
    assert.equal((await voxelizer.voxelize(soup, { res: 40 })).hash, expected.hash);
    // A mesh is read once; what it will take is known before.
    const mesh = await Mesh.open(file);
    const estimate = mesh.estimate({ res: 40, pad: 1 });
    const grid = await voxelizer.voxelize(mesh, { res: 40, pad: 1 });
    assert.deepEqual([estimate.dims, mesh.triangles], [grid.dims, indices.length / 3]);
    assert.ok(estimate.memory > grid.report.bricks * 64 && estimate.memory < estimate.memory_limit, `${estimate.memory}`);
    assert.ok(estimate.brick_pairs >= grid.report.bricks && estimate.core_seconds > 0);
    assert.deepEqual(Object.keys(estimate).sort(), ['brick_pairs', 'core_seconds', 'dims', 'memory', 'memory_limit']);
    assert.deepEqual(mesh.bounds, [0, 1].map((end) => [0, 1, 2].map((axis) => {
      const along = positions.filter((_, i) => i % 3 === axis);
      return end ? Math.max(...along) : Math.min(...along);
    })));
    assert.throws(() => mesh.estimate({ res: 0 }), { code: /./ });
    assert.throws(() => mesh.estimate({ voxelSize: 1e-9 }), { code: /^place/ });

    // Two triangles apart, each with its colour: as bytes, as linear light, and by a texture of two texels.
    const two = { positions: new Float32Array([0, 0, 0, 0, 8, 0, 0, 0, 8, 16, 0, 0, 16, 8, 0, 16, 0, 8]), indices: [0, 1, 2, 3, 4, 5] };
    const [red, blue] = [[200, 0, 0, 255], [0, 0, 100, 255]];
    const colorsOf = async (look) => {
      const grid = await voxelizer.voxelize({ ...two, ...look }, { res: 16 });
      const [voxels, colors] = [grid.voxels(), grid.colors()];
      return [0, grid.occupied - 1].map((i) => [voxels[3 * i], ...colors.subarray(4 * i, 4 * i + 4)].join());
    };
    const bytes = [red, red, red, blue, blue, blue];
    const shown = [`0,${red}`, `15,${blue}`];
    assert.deepEqual(await colorsOf({ colors: new Uint8Array(bytes.flat()) }), shown);
    assert.deepEqual(await colorsOf({ colors: new Uint8Array(bytes.flatMap((color) => color.slice(0, 3))) }), shown);
    const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    assert.deepEqual(await colorsOf({ colors: new Float32Array(bytes.flatMap((color) => color.slice(0, 3).map(linear))) }), shown);
    const texture = { width: 1, data: new Uint8ClampedArray([...red, ...blue]) };
    const uvs = [0.5, 0.9, 0.5, 0.9, 0.5, 0.9, 0.5, 0.1, 0.5, 0.1, 0.5, 0.1];
    assert.deepEqual(await colorsOf({ uvs, texture }), shown);
    assert.deepEqual(await colorsOf({ uvs: uvs.map((c) => 1 - c), texture, flipY: false }), shown);
    assert.notDeepEqual(await colorsOf({ uvs, texture: lighthouse[2] }), ['0,255,255,255,255', '15,255,255,255,255']);
    const refused = [
      [{ positions: [] }, /^positions: a multiple of 3 numbers is needed, not 0/],
      [{ positions: [0, 0] }, /^positions: a multiple of 3/],
      [{ ...two, positions: [NaN, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] }, /^mesh: vertex 0 has the coordinate NaN/],
      [{ ...two, indices: [0, 1, 6], name: 'two' }, /^two: triangle 0 uses vertex 6, but there are 6/],
      [{ ...two, indices: [0, 1, -1] }, /^indices: -1 is not possible/],
      [{ ...two, indices: [0, 1, 1.5] }, /^indices: 1.5 is not possible: use whole numbers from 0 to 4294967295/],
      [{ ...two, indices: [0, 1, undefined] }, /^indices: undefined is not possible/],
      [{ ...two, colors: [1, 0, 0] }, /^colors: a Uint8Array of sRGB or a Float32Array/],
      [{ ...two, colors: new Uint8Array(7) }, /^colors: 3 or 4 numbers for each of the 6 vertices are needed, not 7/],
      [{ ...two, colors: new Float32Array(18).fill(255) }, /^colors: as floats they are linear light from 0 to 1, and one is 255/],
      [{ ...two, uvs }, /^give colors, or uvs with a texture/],
      [{ ...two, uvs: [1], texture }, /^uvs: 2 numbers for each of the 6 vertices/],
      [{ ...two, uvs: uvs.map(() => NaN), texture }, /^uvs: NaN is not possible/],
      [{ ...two, uvs, texture: { width: 3, data: texture.data } }, /^texture: 8 bytes are no rows of 3 pixels/],
      [{ ...two, uvs, texture: { width: 1.5, data: texture.data } }, /^the width of the texture: 1.5 is not possible/],
      [{ ...two, uvs, texture: { data: texture.data } }, /^the width of the texture: undefined is not possible/],
      [{ ...two, uvs, texture: { name: 'a.png', bytes: Buffer.from('no') } }, /^a.png: /],
    ];
    for (const [arrays, message] of refused) await assert.rejects(voxelizer.voxelize(arrays, { res: 4 }), { message });
  });
  await test('dense, slice and mesh of the package are its voxels', async () => {
    const grid = await voxelizer.voxelize(lighthouse[0], { res: 20 }, lighthouse.slice(1));
    const [nx, ny, nz] = grid.dims;
    const [dense, voxels, colors] = [grid.dense(), grid.voxels(), grid.colors()];
    assert.equal(dense.length, nx * ny * nz);
    assert.equal(dense.reduce((sum, one) => sum + one), grid.occupied);
    const colorOf = new Map();
    for (let i = 0; i < grid.occupied; i += 1) {
      const [x, y, z] = voxels.subarray(3 * i);
      assert.equal(dense[(x * ny + y) * nz + z], 1);
      colorOf.set(`${x},${y},${z}`, `${colors.subarray(4 * i, 4 * i + 4)}`);
    }
    for (const [axis, across, [right, up]] of [['x', 0, [1, 2]], ['y', 1, [0, 2]], ['z', 2, [0, 1]]]) {
      const index = grid.dims[across] >> 1;
      const { width, height, data } = grid.slice(axis, index);
      assert.deepEqual([width, height, data.length], [grid.dims[right], grid.dims[up], 4 * width * height]);
      for (let i = 0; i < width * height; i += 1) {
        const voxel = [index, index, index];
        [voxel[right], voxel[up]] = [i % width, height - 1 - Math.floor(i / width)];
        assert.equal(`${data.subarray(4 * i, 4 * i + 4)}`, colorOf.get(`${voxel}`) ?? '0,0,0,0', `${axis} ${voxel}`);
      }
    }
    assert.throws(() => grid.slice('x', nx), { code: 'option', message: /^there is no layer/ });
    assert.throws(() => grid.slice('w', 0), /^TypeError: there is no layer 0 across w/);
    // A diagonal: few voxels, and layers that WebAssembly has no room for.
    const large = await voxelizer.voxelize({ positions: [0, 0, 0, 1, 1, 0, 1, 0.999999, 0] }, { res: 48000 });
    for (const list of ['dense', 'slice']) assert.throws(() => large[list]('z', 0), { code: 'memory', message: /^a list of \d+ values needs more memory/ });
    assert.equal(large.slice('x', 0).data.length, 4 * 48000);
    // Each face between a voxel and an empty place, once, with the colour of the voxel before it.
    const mesh = grid.mesh();
    let area = 0;
    for (let i = 0; i < mesh.indices.length; i += 3) {
      const [a, b, c] = [0, 1, 2].map((n) => [...mesh.positions.subarray(3 * mesh.indices[i + n], 3 * mesh.indices[i + n] + 3)]);
      const [u, v] = [b, c].map((point) => point.map((value, axis) => value - a[axis]));
      const cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
      const size = Math.hypot(...cross);
      area += size / 2;
      const normal = [...mesh.normals.subarray(3 * mesh.indices[i], 3 * mesh.indices[i] + 3)];
      assert.deepEqual(cross.map((value) => value / size + 0), normal);
      const inside = a.map((value, axis) => (value + b[axis] + c[axis]) / 3 - normal[axis] / 2).map(Math.floor);
      assert.equal(`${mesh.colors.subarray(4 * mesh.indices[i], 4 * mesh.indices[i] + 4)}`, colorOf.get(`${inside}`));
    }
    let faces = 0;
    for (const voxel of colorOf.keys()) {
      const at = voxel.split(',').map(Number);
      for (const [axis, step] of [0, 1, 2].flatMap((axis) => [[axis, 1], [axis, -1]])) {
        faces += colorOf.has(`${at.map((value, other) => value + (other === axis ? step : 0))}`) ? 0 : 1;
      }
    }
    assert.equal(area, faces);
    assert.equal((await voxelizer.voxelize(lighthouse[0], { res: 4, color: 'none' })).mesh().colors, null);
  });
  await test('a picture has the whole grid however it is turned, and is filled by it', async () => {
    const positions = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((n) => [n & 1 ? 12 : 0, n & 2 ? 3 : 0, n & 4 ? 5 : 0]);
    const indices = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]].flatMap(([a, b, c, d]) => [a, b, c, a, c, d]);
    for (const up of ['y', 'z']) {
      const viewer = voxelizer.viewer(await voxelizer.voxelize({ positions, indices }, { res: 24, color: '#FFFFFF', up }));
      for (const size of [[96, 48], [48, 96], [64, 64]]) for (const pitch of [0, 0.4887, -Math.PI / 2]) {
        let most = 0;
        for (let yaw = 0; yaw < 6.2; yaw += 0.3927) {
          const view = { ...VIEW, size, rows: [0, size[1]], yaw, pitch, background: [[255, 0, 255], [255, 0, 255]] };
          const pixels = new Uint32Array((await viewer.draw(view)).buffer);
          const [xs, ys] = [[], []];
          pixels.forEach((pixel, i) => {
            if (pixel === 0xffff00ff) return;
            xs.push(i % size[0]);
            ys.push(Math.floor(i / size[0]));
          });
          const ends = [xs, ys].map((list) => [Math.min(...list), Math.max(...list)]);
          ends.forEach(([low, high], axis) => {
            assert.ok(low > 0 && high < size[axis] - 1, `${size} ${pitch} ${yaw}: ${ends.join(' ')}`);
            most = Math.max(most, (high - low + 1) / size[axis]);
          });
          for (let i = 0; i < pixels.length; i += 97) {
            const found = viewer.pick(view, (i % size[0]) + 0.5, Math.floor(i / size[0]) + 0.5);
            assert.deepEqual(found?.color, pixels[i] === 0xffff00ff ? undefined : [255, 255, 255, 255]);
          }
        }
        assert.ok(most > 0.85, `${up} ${size} ${pitch}: ${most} of the picture`);
      }
    }
  });
  await test('at rest a corner is darker than what is beside it, and lighter than a shadow', async () => {
    const box = ([x, y, z], [u, v, w]) => [0, 1, 2, 3, 4, 5, 6, 7].flatMap((n) => [n & 1 ? u : x, n & 2 ? v : y, n & 4 ? w : z]);
    const sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]].flatMap(([a, b, c, d]) => [a, b, c, a, c, d]);
    const positions = [...box([0, 0, 0], [24, 1, 24]), ...box([8, 1, 8], [16, 3, 16])];
    const options = { res: 24, mode: 'solid', fill: 'winding', color: '#FFFFFF' };
    const viewer = voxelizer.viewer(await voxelizer.voxelize({ positions, indices: [...sides, ...sides.map((n) => n + 8)] }, options));
    const size = [240, 240];
    const lightOf = async (hasShadow) => {
      const view = { ...VIEW, size, rows: [0, 240], pitch: Math.PI / 2, hasShadow };
      const pixels = await viewer.draw(view);
      const light = {};
      for (let i = 0; i < 240 * 240; i += 1) {
        const voxel = viewer.pick(view, (i % 240) + 0.5, Math.floor(i / 240) + 0.5)?.voxel;
        if (voxel) light[voxel] = Math.max(light[voxel] ?? 0, pixels[4 * i]);
      }
      // Beside the block on the side of the sun and on the other, and far from it.
      return [[16, 0, 12], [7, 0, 12], [22, 0, 12]].map((voxel) => light[voxel]);
    };
    const [lit, shadowed, far] = await lightOf(true);
    assert.ok(shadowed < lit - 20 && lit < far - 2, `${[shadowed, lit, far]}`);
    const moving = await lightOf(false);
    assert.ok(moving.every((light) => light === moving[0]), `${moving}`);
  });
  await test('a geometry of three.js becomes instances', async () => {
    // In a folder whose name has another form in a URL, and without the `process` of Node, as in a browser.
    const folder = join(made, 'three ä%20');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    copyFileSync(join(root, 'dist/npm/three.mjs'), join(folder, 'three.mjs'));
    symlinkSync(join(root, 'dist/npm/trivox.js'), join(folder, 'trivox.js'));
    symlinkSync(join(root, 'node_modules/three'), join(folder, 'node_modules/three'));
    const run = (...args) => execFileSync('node', args, { cwd: folder, encoding: 'utf8' });
    const printed = run('three.mjs', '24');
    assert.equal(run('--input-type=module', '--eval', "delete globalThis.process; console.log(Object.keys(await import('./three.mjs')).join());"), 'arraysOf,instancesOf\n');
    const { arraysOf, instancesOf } = await import(join(root, 'dist/npm/three.mjs'));
    const three = await import('three');
    const geometry = new three.TorusKnotGeometry();
    const lines = [];
    for (let i = 0; i < geometry.attributes.position.array.length; i += 3) lines.push(`v ${geometry.attributes.position.array.slice(i, i + 3).join(' ')}`);
    for (let i = 0; i < geometry.index.array.length; i += 3) lines.push(`f ${[0, 1, 2].map((n) => geometry.index.array[i + n] + 1).join(' ')}`);
    const obj = join(made, 'three.obj');
    writeFileSync(obj, lines.join('\n'));
    const expected = native(obj, '--res', '24', '--backend', 'cpu');
    assert.equal(printed.trim(), `${expected.dims.join(' x ')} ${expected.occupied} ${expected.hash}`);
    const { array, count } = geometry.attributes.position;
    const interleaved = (array, each, isNormalized) => new three.InterleavedBufferAttribute(new three.InterleavedBuffer(array, each), 3, 0, isNormalized);
    geometry.setAttribute('position', interleaved(array, 3, false));
    // A fifth of the light, however it is stored.
    const fifths = [
      new three.BufferAttribute(new Float32Array(3 * count).fill(0.2), 3),
      new three.BufferAttribute(new Uint8Array(3 * count).fill(51), 3, true),
      new three.BufferAttribute(new Uint16Array(4 * count).fill(13107), 4, true),
      new three.Float16BufferAttribute(new Uint16Array(3 * count).fill(three.DataUtils.toHalfFloat(0.2)), 3),
      interleaved(new Uint8Array(4 * count).fill(51), 4, true),
    ];
    for (const [index, fifth] of fifths.entries()) {
      geometry.setAttribute('color', fifth);
      const grid = await voxelizer.voxelize(arraysOf(geometry), { res: 24 });
      const instances = instancesOf(grid);
      const [matrix, color] = [new three.Matrix4(), new three.Color()];
      instances.getMatrixAt(0, matrix);
      instances.getColorAt(0, color);
      const { origin, voxel_size: size } = grid.report;
      const center = [...grid.voxels().subarray(0, 3)].map((n, axis) => origin[axis] + (n + 0.5) * size);
      assert.deepEqual([grid.hash, instances.count, color.getHex()], [expected.hash, grid.occupied, 0x7c7c7c], `colours ${index}`);
      center.forEach((value, axis) => assert.ok(Math.abs(matrix.elements[12 + axis] - value) < 1e-5));
    }
  });
  await test('the package writes a file that is larger than the memory of WebAssembly', async () => {
    const mesh = fileOf('cube.obj');
    const grid = await voxelizer.voxelize(mesh, { res: 1640 });
    let length = 0;
    grid.writeTo('npy', (part) => { length += part.length; });
    assert.equal(length, 128 + 1640 ** 3);
    assert.throws(() => grid.writeTo('npy', () => { throw new Error('the disk is full'); }), { message: 'the disk is full' });
    const [parts, given] = [[], Uint8Array];
    grid.writeTo('vox', (part) => parts.push(part));
    assert.ok(parts.length > 1);
    assert.deepEqual(Buffer.concat(parts), Buffer.from(grid.write('vox')));
    // An array that has no room, as in a browser with a lower limit.
    globalThis.Uint8Array = class extends given {
      constructor(...args) {
        if (args[0] > 100) throw new RangeError('Array buffer allocation failed');
        super(...args);
      }
    };
    try {
      assert.throws(() => grid.write('bricks'), { code: 'memory', message: /^the .bricks file has \d+ bytes, too many/ });
    } finally {
      globalThis.Uint8Array = given;
    }
    grid.free();
    const long = { byteLength: 2 ** 31, name: 'long.obj' };
    await assert.rejects(voxelizer.voxelize({ name: 'long.obj', bytes: long }), { code: 'option', message: /at most 2147483647/ });
  });
  await test('distances, attributes, dithering and turntables of the package have the bytes of the program', async () => {
    const same = (bytes, extension, ...args) => {
      const out = join(made, `same.${extension}`);
      execFileSync(program, [...args, '-o', out, '--quiet']);
      assert.ok(Buffer.from(bytes).equals(readFileSync(out)), args.join(' '));
    };
    const of = [asset('lighthouse.obj'), '--res', '24'];
    const mesh = await Mesh.open(lighthouse[0], lighthouse.slice(1));
    const distances = mesh.distances(2.5, { res: 24, fill: 'winding' });
    for (const extension of ['vdb', 'nvdb', 'npz', 'npy']) same(distances.write(extension), extension, ...of, '--distance', '2.5', '--fill', 'winding');
    assert.deepEqual([distances.report.distances.width, distances.report.mesh], [2.5, 'lighthouse.obj']);
    assert.throws(() => distances.write('vox'), { message: /^.vox files cannot hold distances: use one of/ });
    assert.throws(() => mesh.distances(2, { mode: 'solid' }), { code: 'option', message: /^mode is of voxels/ });
    assert.throws(() => mesh.distances(0), { code: /./ });
    const attributes = ['normal', 'material', 'uv'];
    const grid = await voxelizer.voxelize(lighthouse[0], { res: 24, attributes }, lighthouse.slice(1));
    for (const extension of ['npz', 'vti']) same(grid.write(extension), extension, ...of, '--attributes', attributes.join());
    assert.deepEqual(grid.lost('bricks'), ["the voxels' attributes are not kept: normal, material, uv"]);
    await assert.rejects(voxelizer.voxelize(lighthouse[0], { attributes: ['mass'] }), { code: 'option.value', message: /mass/ });
    for (const extension of ['vox', 'schem']) same(grid.write(extension, { dither: true }), extension, ...of, '--dither');
    assert.throws(() => grid.write('vox', { dithered: true }), { message: /unknown field `dithered`/ });
    for (const extension of ['gif', 'png']) {
      const options = { frames: 3, size: [40, 30], samples: 1, azimuth: 20 };
      const args = ['--turntable', '3', '--size', '40x30', '--samples', '1', '--azimuth', '20', '--res', '24'];
      same(await voxelizer.turntable(grid, extension, options), extension, 'render', asset('lighthouse.obj'), ...args);
    }
    await assert.rejects(voxelizer.turntable(grid, 'mp4'), { code: 'option', message: /use 'gif' or 'png'/ });
    await assert.rejects(voxelizer.turntable(grid, 'gif', { frames: 0 }), { message: /./ });
    // 25 and 1 in 16 and 32 bits.
    await assert.rejects(voxelizer.turntable(grid, 'gif', { fps: 65561 }), { code: 'option', message: /^fps: 65561 .* to 65535$/ });
    await assert.rejects(voxelizer.turntable(grid, 'gif', { frames: 2 ** 32 + 1 }), { code: 'option', message: /^frames: 4294967297/ });
    const controller = new AbortController();
    const drawing = voxelizer.turntable(grid, 'gif', { signal: controller.signal, size: [20, 20] });
    controller.abort();
    await assert.rejects(drawing, { name: 'AbortError' });
    // A triangle of the mesh is where the grid has its voxels.
    const corners = mesh.placed({ res: 24, rotate: ['y:90'] });
    assert.equal(corners.length, 9 * mesh.triangles);
    assert.deepEqual([corners.reduce((a, b) => Math.min(a, b)), corners.reduce((a, b) => Math.max(a, b))], [0, 24]);
  });
  await test('the progress of the package is null or from 0 to 1', async () => {
    const reported = new Map();
    await onProgress((step, share) => reported.set(step, [...(reported.get(step) ?? []), share]));
    try {
      const mesh = await Mesh.open(lighthouse[0], lighthouse.slice(1));
      const grid = await voxelizer.voxelize(mesh, { res: 128, mode: 'solid' });
      mesh.distances(2, { res: 64 });
      await voxelizer.turntable(grid, 'gif', { frames: 4, size: [40, 30] });
    } finally {
      await onProgress(() => {});
    }
    for (const [step, shares] of reported) {
      assert.ok(shares.every((share) => share === null || (share >= 0 && share <= 1)), `${step}: ${shares}`);
    }
    for (const step of ['parse', 'voxelize', 'distances', 'draw']) assert.ok(reported.has(step), `${[...reported.keys()]}`);
    // The first of a step is always reported, others by the clock.
    assert.deepEqual([reported.get('parse')[0], reported.get('draw')[0]], [null, 0]);
  });
  await test('the formats of the package are those of the program, and the documents name them', async () => {
    const { meshes, grids } = await formats();
    const rows = JSON.parse(execFileSync(program, ['formats', '--json'], { encoding: 'utf8' }));
    const names = (list) => list.map(({ extension }) => `.${extension}`).sort();
    assert.deepEqual(names(meshes), names(rows.filter(({ read }) => read === 'mesh')));
    assert.deepEqual(names(grids), names(rows.filter(({ written }) => written)));
    const read = names(grids.filter((format) => format.read));
    assert.deepEqual(read, names(rows.filter(({ read }) => read === 'grid')));
    const [types, ...documents] = ['package/trivox.d.ts', 'package/README.md', 'page/index.html', '../docs/web.md'].map((name) => readFileSync(join(root, name), 'utf8'));
    const [, listed] = types.match(/Reads a file with voxels: ([^]*?)\*\//);
    assert.deepEqual(listed.match(/\.\w+/g).sort(), read);
    for (const text of documents) for (const name of names(meshes)) assert.ok(text.includes(name), `${name} in ${text.slice(0, 40)}`);
  });
  await test('the package refuses what it cannot compute', async () => {
    const bytes = readFileSync(asset('cube.obj'));
    const mesh = { name: 'cube.obj', bytes: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) };
    const grid = await voxelizer.voxelize(mesh, { res: 8 });
    await assert.rejects(voxelizer.voxelize(mesh, { scale: -1 }), { name: 'Error', code: 'place.scale', message: /a scale of -1 is not possible/ });
    await assert.rejects(voxelizer.voxelize(mesh, { backend: 'gpu' }), { code: 'backend.no_adapter', message: /there is no WebGPU here/ });
    await assert.rejects(voxelizer.voxelize(mesh, { mode: 'wires' }), { code: 'option.value' });
    await assert.rejects(voxelizer.voxelize(mesh, { filter: 'cubic' }), { code: 'option.value' });
    assert.match(grid.report.reason, /^there is no WebGPU here$/);
    assert.equal((await voxelizer.voxelize(mesh, { res: 8, backend: 'cpu' })).report.reason, 'asked for');
    await assert.rejects(voxelizer.voxelize(mesh, { voxelSize: NaN }), /voxelSize: NaN is not possible/);
    await assert.rejects(voxelizer.voxelize(mesh, { color: '#+12345' }), /color '#\+12345' is not possible/);
    await assert.rejects(voxelizer.voxelize(mesh, { fill: 'vote' }), /fill and includeSurface are of solids/);
    await assert.rejects(voxelizer.voxelize(mesh, { interiorColor: '#ffffff' }), /interiorColor is of solids/);
    const solid = { mode: 'solid', keepTransparent: true };
    await assert.rejects(voxelizer.voxelize(mesh, solid), /keepTransparent is of surfaces/);
    await assert.rejects(voxelizer.voxelize(mesh, { res: 8, voxelSize: 1 }), /give res or voxelSize, not both/);
    await assert.rejects(voxelizer.voxelize(mesh, { cube: 8, pad: 1 }), /leave bounds and pad out/);
    await assert.rejects(voxelizer.voxelize(mesh, { rotate: ['x'] }), /rotate 'x' is not possible: use an axis/);
    await assert.rejects(voxelizer.voxelize({ name: 'cube.obj', bytes: new Blob([bytes]) }), /bytes must be/);
    await assert.rejects(Grid.open({ name: 5, bytes }), { name: 'TypeError', message: /a string is needed/, code: 'option' });
    const bounds = [[0, 0, 0], [1, NaN, 1]];
    await assert.rejects(voxelizer.voxelize(mesh, { bounds }), /bounds\[1\]\[1\]: NaN is not possible/);
    await assert.rejects(voxelizer.voxelize(mesh, { res: 12.5 }), { message: /^res: .*12.5/, code: 'option' });
    await assert.rejects(voxelizer.voxelize(mesh, { resolution: 8 }), /unknown field `resolution`/);
    const png = Buffer.from(await voxelizer.picture(grid, { size: undefined, samples: 1 }));
    assert.deepEqual([png[0], png.readUInt32BE(16), png.readUInt32BE(20)], [0x89, 1024, 1024]);
    await assert.rejects(voxelizer.viewer(grid).draw(), { message: /missing field/, code: 'option' });
    const computing = voxelizer.voxelize(mesh, { res: 8 });
    assert.throws(() => voxelizer.free(), /this Voxelizer is in use/);
    (await computing).free();
    assert.equal(grid.colors(), null);
    assert.throws(() => grid.write(5), /a string is needed/);
    assert.deepEqual([[0, 0, 0], [8, 0, 0], [2 ** 32, 0, 0], [NaN, 0, 0]].map((voxel) => grid.contains(...voxel)),
      [true, false, false, false]);
    const viewer = voxelizer.viewer(grid);
    const view = { ...VIEW, size: [2 ** 32 - 1, 2], rows: [0, 2] };
    await assert.rejects(viewer.draw(view), /a size of 4294967295 x 2 is not possible/);
    await assert.rejects(viewer.draw({ ...view, size: [4, 4], rows: [3, 2] }), /are not in a height of 4/);
    assert.equal((await viewer.draw({ ...view, size: [4, 4], rows: [2, 2] })).length, 4 * 4 * 2);
    grid.free();
    grid.free();
    assert.throws(() => grid.write('vox'), /this Grid was freed/);
  });
}
process.exit(failures ? 1 : 0);
