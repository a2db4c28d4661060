// Owns the WebAssembly module and the GPU, so that the page never waits. Answers requests one after
// another; draws the view while there is none.

import { LARGEST, grouped, isPart } from './files.js';
import { Grid, Mesh, Voxelizer, formats, init, onProgress, version } from './trivox/trivox.js';

/** A frame while the view moves should take so many milliseconds. */
const FRAME_MS = 40;
/** A band of a picture at rest should; a move is noticed between bands. */
const BAND_MS = 80;

/** A GPU that fails so often while it draws draws no more. */
const MAX_FAILURES = 4;

let voxelizer = null;
/** As the package takes it: a GPU in software is for those who choose it. */
let gpu = true;
let hadGpu = false;
let failures = 0;
/** Whether pictures are presented on the GPU; else, or where there is none, their pixels are read back. */
let presents = true;
/** Whether the page was told that the browser has no memory for pictures of the grid. */
let isMemoryShort = false;
let model = null;
/** The mesh that was read last, and of which model. */
let read = null;
let grid = null;
let viewer = null;

const open = async () => {
  voxelizer?.free();
  voxelizer = await Voxelizer.open({ gpu });
  hadGpu ||= voxelizer.adapter !== null;
  postMessage({ type: 'adapter', adapter: voxelizer.adapter, reason: voxelizer.reason });
};
/** The bytes of the module: what comes compressed has another length. web/build puts it in. */
const MODULE_BYTES = Number('__MODULE_BYTES__');

async function fetchModule() {
  const response = await fetch(new URL('trivox/wasm/trivox_web_bg.wasm', import.meta.url));
  // Of a copy: browsers keep the compiled code of what is fetched itself.
  const reader = response.clone().body.getReader();
  const count = async () => {
    for (let bytes = 0, part; !(part = await reader.read()).done;) {
      bytes += part.value.length;
      postMessage({ type: 'progress', step: 'loading the module', share: Math.min(1, bytes / MODULE_BYTES) });
    }
  };
  // That it broke off is said by who reads it for its contents.
  count().catch(() => {});
  return response;
}

const ready = (async () => {
  await init(fetchModule());
  await onProgress((step, share) => postMessage({ type: 'progress', step, share }));
  await open();
})();

function show(next, nextModel) {
  viewer?.free();
  grid?.free();
  viewer = null;
  [grid, model] = [next, nextModel];
  sharpened = null;
  isNew = true;
  isMemoryShort = false;
}

const baseOf = (name) => name.split(/[/\\]/).pop().toLowerCase();

/** Of the files that were given with a mesh those that it may name: what else was dropped is not read. */
async function sidecarsOf(mesh, files) {
  const others = files.filter((file) => file !== mesh);
  let isNamed = ({ name }) => isPart(name);
  if (/\.gltf$/i.test(mesh.name)) {
    try {
      const { buffers = [], images = [] } = JSON.parse(await mesh.file.text());
      const uris = [...buffers, ...images].map(({ uri = '' }) => uri).filter((uri) => !uri.startsWith('data:'));
      const named = new Set(uris.map((uri) => baseOf(decodeURIComponent(uri))));
      isNamed = ({ name }) => named.has(baseOf(name));
    } catch {
      // It is read, and what is wrong with it said, elsewhere.
    }
  }
  const sidecars = others.filter(isNamed);
  const size = sidecars.reduce((sum, { file }) => sum + file.size, 0);
  if (size > LARGEST) {
    throw new Error(`${mesh.name}: the files with it have ${grouped(size)} bytes, and a browser tab reads `
      + `at most ${grouped(LARGEST)}: choose only those that the model needs`);
  }
  return sidecars;
}

/** A file as the package takes it. */
async function readFile({ name, file }) {
  try {
    return { name, bytes: new Uint8Array(await file.arrayBuffer()) };
  } catch (error) {
    // Its message names no file.
    const isGone = ['NotReadableError', 'NotFoundError'].includes(error.name);
    throw new Error(isGone ? `${name}: has changed since it was chosen: choose it again` : `${name}: ${error.message}`);
  }
}

/** The model of a request: a mesh, and the files that it may name. */
async function modelOf({ key, name, files }) {
  const mesh = files.find((file) => file.name === name);
  return { key, ...mesh, sidecars: await sidecarsOf(mesh, files) };
}

/** Attributes of materials and textures. */
const OF_MATERIALS = ['material', 'uv', 'metallic', 'roughness', 'emission', 'alpha'];

/** The mesh of `model`, which is read again where other parts of it are needed. */
async function meshOf(model, { color, attributes }) {
  const needed = { colors: color !== 'none', attributes: attributes.filter((name) => OF_MATERIALS.includes(name)) };
  const needs = JSON.stringify(needed);
  if (read?.key !== model.key || read.needs !== needs) {
    read?.mesh.free();
    read = null;
    const sidecars = await Promise.all(model.sidecars.map(readFile));
    read = { key: model.key, needs, mesh: await Mesh.open(await readFile(model), sidecars, needed) };
  }
  return read.mesh;
}

const estimated = (mesh, options) => ({ ...mesh.estimate(options), bounds: mesh.bounds });

async function voxelized(model, options) {
  // A browser has no adapter for a while after it lost one.
  if (hadGpu && gpu && !voxelizer.adapter && !voxelizer.isSoftware) await open();
  const made = await voxelizer.voxelize(await meshOf(model, options), options);
  // A device that was lost once is not asked again; a new one may do.
  if (voxelizer.adapter && options.backend === 'auto' && made.report.backend === 'cpu') await open();
  return made;
}

/** Parts of a file that become one Blob: Blobs are outside this worker's memory, and may be on disk. */
const PARTS = 64;

/** A grid, or distances, as a file of any size. */
async function blobOf(what, extension, options) {
  const blobs = [];
  let parts = [];
  what.writeTo(extension, (part) => {
    if (parts.push(part) < PARTS) return;
    blobs.push(new Blob(parts));
    parts = [];
  }, options);
  const file = new Blob([...blobs, ...parts]);
  try {
    // A browser that had no room for all of it says so only when it is read.
    await file.slice(-1).arrayBuffer();
  } catch {
    throw new Error(`the .${extension} file has ${grouped(file.size)} bytes, for which the browser has no room `
      + 'in memory or on disk: choose another format or a lower resolution, or use the program on the command line');
  }
  return file;
}

/** A picture by the backend that was chosen. */
async function drawn(backend, type, draw) {
  const cpu = backend === 'cpu' ? await Voxelizer.open({ gpu: false }) : null;
  try {
    return { file: new Blob([await draw(cpu ?? voxelizer)], { type }), lost: [] };
  } finally {
    cpu?.free();
  }
}

/** Ends the animations that were asked for. */
let stopping = new AbortController();

const requests = {
  ready: async () => ({ formats: await formats(), version: await version() }),
  async voxelize({ options, ...request }) {
    const next = await modelOf(request);
    postMessage({ type: 'estimated', estimate: estimated(await meshOf(next, options), options) });
    const wanted = gpu && (options.backend === 'gpu' ? 'software' : true);
    const isOther = voxelizer.isSoftware && wanted !== gpu;
    gpu = wanted;
    if (isOther) await open();
    show(await voxelized(next, options), next);
    const file = await blobOf(grid, 'bricks').catch(() => null);
    return { report: grid.report, kept: file && { name: 'kept.bricks', file } };
  },
  async open({ name, files }) {
    const kept = files.find((file) => file.name === name);
    show(await Grid.open(await readFile(kept)), null);
    return { report: grid.report, kept };
  },
  /** The grid of a worker that was ended. */
  async restore({ isMesh, kept, ...request }) {
    const next = isMesh ? await modelOf(request) : null;
    show(await Grid.open(await readFile(kept)), next);
  },
  async estimate({ options, ...request }) {
    return estimated(await meshOf(await modelOf(request), options), options);
  },
  async verify({ options }) {
    const reports = {};
    for (const backend of voxelizer.adapter ? ['gpu', 'cpu'] : ['cpu']) {
      const made = await voxelized(model, { ...options, backend });
      reports[backend] = made.report;
      made.free();
    }
    return { reports, reason: voxelizer.reason };
  },
  async write({ extension, options }) {
    return { file: await blobOf(grid, extension, options), lost: grid.lost(extension, options) };
  },
  /** `of` are the options that the mesh was read for. */
  async distances({ extension, width, options, of }) {
    const distances = (await meshOf(model, of)).distances(width, options);
    try {
      return { file: await blobOf(distances, extension), lost: distances.report.warnings };
    } finally {
      distances.free();
    }
  },
  picture: ({ options, backend }) => drawn(backend, 'image/png', (by) => by.picture(grid, options)),
  turntable({ extension, options, backend, signal }) {
    return drawn(backend, `image/${extension}`, (by) => by.turntable(grid, extension, { ...options, signal }));
  },
  /** The triangles of the mesh where the grid has them. */
  async placed({ options }) {
    return (await meshOf(model, options)).placed(options);
  },
};

// Requests wait for each other, and pictures for them.
let queue = ready;
let busy = 0;

onmessage = ({ data }) => {
  if (data.type === 'view') {
    view = data.view;
    draw();
    return;
  }
  if (data.type === 'pick') {
    postMessage({ type: 'picked', found: picked(data.at) });
    return;
  }
  if (data.type === 'stop') {
    stopping.abort();
    stopping = new AbortController();
    return;
  }
  const { signal } = stopping;
  busy += 1;
  queue = queue.then(async () => {
    try {
      await idle;
      const value = await requests[data.type]({ ...data, signal });
      postMessage({ type: 'done', id: data.id, value }, value instanceof Float32Array ? [value.buffer] : []);
    } catch (error) {
      const fatal = error instanceof WebAssembly.RuntimeError;
      postMessage({ type: 'failed', id: data.id, message: error.message, fatal });
    } finally {
      busy -= 1;
      draw();
    }
  });
  // The queue begins with `ready`, whose failure is posted below.
  queue.catch(() => {});
};

ready.catch((error) => postMessage({ type: 'failed', message: error.message, fatal: true }));

let view = null;
let sharpened = null;
/** Whether no picture of the grid was drawn: the first is a whole one. */
let isNew = true;
/** Ends when no picture is in progress. */
let idle = Promise.resolve();
let drawing = false;
/** The part of the full width and height while it moves, and microseconds a ray. */
let scale = 0.5;

const breath = () => new Promise((resolve) => setTimeout(resolve));

function draw() {
  if (drawing || busy || !view || !grid) return;
  drawing = true;
  idle = frames().catch(async (error) => {
    if (error instanceof WebAssembly.RuntimeError || !voxelizer.adapter) {
      postMessage({ type: 'failed', message: error.message, fatal: true });
      return;
    }
    viewer?.free();
    viewer = null;
    // Some browsers compute on a GPU that they cannot present from. They lose it when they try, and
    // may lose the device that is opened next as well.
    presents = false;
    failures += 1;
    if (failures >= MAX_FAILURES) gpu = false;
    await open();
    if (gpu) return;
    const reason = `The GPU failed (${error.message}); the CPU takes its place.`;
    postMessage({ type: 'notice', message: reason });
  }).finally(() => {
    drawing = false;
    if (view && view !== sharpened && !busy && grid) setTimeout(draw);
  });
}

async function frames() {
  while (view && view !== sharpened && !busy) {
    viewer ??= voxelizer.viewer(grid);
    const now = view;
    if (now.moving || isNew) {
      isNew = false;
      await frame(now);
      await breath();
      if (view === now && now.moving) return;
    } else {
      await sharpen(now);
    }
  }
}

const whole = ({ camera, size }) => ({ ...camera, size, rows: [0, size[1]], samples: 1, hasShadow: false });

/** The voxel at a point of the canvas; nothing before the first picture. */
const picked = ([x, y]) => (viewer && view ? viewer.pick(whole(view), x, y) : null);

/** The pixels of rows as an image. Without memory for it: `null`, and for the first of a grid a notice on the page. */
async function imageOf(pixels, width) {
  try {
    return await createImageBitmap(new ImageData(pixels, width));
  } catch (error) {
    const message = `Parts of the picture are missing, as the browser has no memory for them (${error.message}): `
      + 'close other tabs, or make the window smaller.';
    if (!isMemoryShort) postMessage({ type: 'notice', message });
    isMemoryShort = true;
    return null;
  }
}

/** Rows of a picture as an image, which stays on the GPU where it can. */
async function rowsOf(options) {
  const presented = presents ? await viewer.present(options) : undefined;
  if (presented) return { image: presented, isPresented: true };
  const pixels = new Uint8ClampedArray((await viewer.draw(options)).buffer);
  return { image: await imageOf(pixels, options.size[0]), isPresented: false };
}

/** Hands rows of a picture to the page. `took` is the time of a whole picture in milliseconds, 0 for a part of one. */
function post(now, { size, rows }, { image, isPresented }, took) {
  if (!image) return;
  const camera = viewer.camera(whole(now));
  postMessage({ type: 'frame', camera, size, rows, image, isPresented, took }, [image]);
}

async function frame(now) {
  // In steps, so that most pictures have the size of the one before, and its buffers.
  const part = Math.max(1, Math.round(16 * scale)) / 16;
  const size = now.size.map((side) => Math.max(1, Math.round(side * part)));
  const options = whole({ camera: now.camera, size });
  const began = performance.now();
  const picture = await rowsOf(options);
  const took = performance.now() - began;
  scale = Math.min(1, Math.max(0.08, part * Math.min(1.5, Math.sqrt(FRAME_MS / took))));
  post(now, options, picture, took);
}

/** The picture at rest: once with a ray a pixel, then with four. */
async function sharpen(now) {
  const height = now.size[1];
  let rows = 32;
  for (const samples of [1, 2]) {
    rows = Math.ceil(rows / 4);
    for (let first = 0; first < height;) {
      const count = Math.min(rows, height - first);
      const options = { ...now.camera, size: now.size, rows: [first, count], samples, hasShadow: true };
      const began = performance.now();
      post(now, options, await rowsOf(options), 0);
      const took = performance.now() - began;
      rows = Math.max(1, Math.min(256, Math.round(count * Math.min(4, BAND_MS / took))));
      first += count;
      await breath();
      if (view !== now || busy) return;
    }
    postMessage({ type: 'sharpened', number: now.number, samples });
  }
  sharpened = now;
}
