// Exact voxelization of triangle meshes, by WebGPU and WebAssembly. Types and docs: trivox.d.ts.

import start, * as wasm from './wasm/trivox_web.js';

let started;

/** The bytes of the module: a page fetches them itself, Node reads the file beside this one. */
async function source() {
  const url = new URL('./wasm/trivox_web_bg.wasm', import.meta.url);
  if (url.protocol !== 'file:') return url;
  // By a variable, so that bundlers for browsers do not look for it.
  const files = 'node:fs/promises';
  const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ files);
  return readFile(url);
}

export function init(module) {
  started ??= (async () => start({ module_or_path: await (module ?? source()) }))().catch((error) => {
    // The next call tries again.
    started = undefined;
    // Most often a server or a bundler gave a page instead of it.
    const hint = 'Is wasm/trivox_web_bg.wasm where init looks for it? See "Bundlers" in the README of trivox.';
    throw new Error(`the WebAssembly module did not start: ${error.message}. ${hint}`, { cause: error });
  });
  return started;
}

/** An error of an argument, with the code of those that the module refuses. */
function refusal(message) {
  return Object.assign(new TypeError(message), { code: 'option' });
}

/** As JSON, which has no infinite numbers. */
function json(options) {
  const check = (name, value) => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw refusal(`${name}: ${value} is not possible: use a finite number`);
    }
    if (value === null || typeof value !== 'object') return;
    const isList = Array.isArray(value);
    for (const [key, part] of Object.entries(value)) {
      check(isList ? `${name}[${key}]` : [name, key].filter(Boolean).join('.'), part);
    }
  };
  check('', options);
  return JSON.stringify(options);
}

function text(what, value) {
  if (typeof value !== 'string') throw refusal(`${what}: a string is needed, not ${typeof value}`);
  return value;
}

/** The length of the longest array in WebAssembly's memory. */
const LONGEST = 2 ** 31 - 1;

function bytesOf({ name, bytes }) {
  if (bytes?.byteLength > LONGEST) {
    throw refusal(`${name}: has ${bytes.byteLength} bytes, and WebAssembly reads at most ${LONGEST}: use the program`);
  }
  if (bytes instanceof Uint8Array) return bytes;
  if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes);
  if (ArrayBuffer.isView(bytes)) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  throw refusal(`${name}: bytes must be a Uint8Array or an ArrayBuffer: of a Blob, await blob.arrayBuffer()`);
}

/** The length of a list of `each` numbers for each of something. */
function numbers(what, list, each) {
  if (list?.length > 0 && list.length % each === 0) return list.length;
  throw refusal(`${what}: a multiple of ${each} numbers is needed, not ${list?.length}`);
}

/** As whole numbers of 32 bits, or as those of `Type`: others are converted silently. */
function wholes(what, list, Type = Uint32Array) {
  const converted = new Type(list);
  const wrong = list.findIndex((number, index) => number !== converted[index]);
  if (wrong < 0) return converted;
  const most = 2 ** (8 * Type.BYTES_PER_ELEMENT) - 1;
  throw refusal(`${what}: ${list[wrong]} is not possible: use whole numbers from 0 to ${most}`);
}

function lookOfColors(colors, vertices) {
  const isLinear = colors instanceof Float32Array;
  if (!isLinear && !(colors instanceof Uint8Array || colors instanceof Uint8ClampedArray)) {
    throw refusal('colors: a Uint8Array of sRGB or a Float32Array of linear light is needed');
  }
  const channels = colors.length / vertices;
  if (channels !== 3 && channels !== 4) {
    throw refusal(`colors: 3 or 4 numbers for each of the ${vertices} vertices are needed, not ${colors.length}`);
  }
  const four = isLinear ? new Float32Array(4 * vertices).fill(1) : new Uint8Array(4 * vertices).fill(255);
  for (let i = 0; i < colors.length; i += 1) four[4 * Math.floor(i / channels) + (i % channels)] = colors[i];
  return isLinear ? wasm.Look.of_linear(four) : wasm.Look.of_srgb(four);
}

function lookOfTexture(uvs, texture, isUp, vertices) {
  if (uvs.length !== 2 * vertices) throw refusal(`uvs: 2 numbers for each of the ${vertices} vertices are needed, not ${uvs.length}`);
  const floats = new Float32Array(uvs);
  const { data, width, name } = texture;
  if (data) {
    wholes('the width of the texture', [width]);
    return wasm.Look.of_pixels(floats, isUp, width, bytesOf({ name: 'texture', bytes: data }));
  }
  return wasm.Look.of_image(floats, isUp, text('the name of the texture', name), bytesOf(texture));
}

/** An array of `length` bytes for `what`: the longest is of 2 GiB to 8 GiB, and memory may be short of it. */
function room(length, what) {
  try {
    return new Uint8Array(length);
  } catch (error) {
    const message = `${what} has ${length} bytes, too many for one array here: take its parts by writeTo`;
    throw Object.assign(new RangeError(message, { cause: error }), { code: 'memory' });
  }
}

/**
 * Takes a file from the module, part by part, and lets others do something before each picture of an animation. What
 * `take` throws, or `signal` has, is thrown in place of what the module makes of it.
 */
class Sink {
  #take;
  #signal;
  #failure;

  constructor(take, signal) {
    this.#take = take;
    this.#signal = signal;
  }

  #attempt(work) {
    try {
      work();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  take(bytes) {
    this.#attempt(() => this.#take(bytes.slice()));
  }

  async pause() {
    await new Promise((resolve) => setTimeout(resolve));
    this.#attempt(() => this.#signal?.throwIfAborted());
  }

  /** What was thrown: `error`, unless that is of this sink. */
  cause(error) {
    return this.#failure ? this.#failure.error : error;
  }
}

/** The parts of `what` as one array. */
function joined(parts, what) {
  const file = room(parts.reduce((sum, part) => sum + part.length, 0), what);
  let start = 0;
  for (const part of parts) {
    file.set(part, start);
    start += part.length;
  }
  return file;
}

/** What holds memory of WebAssembly: until it is freed or collected. */
class Owner {
  #inner;
  #users = 0;

  constructor(inner) {
    this.#inner = inner;
  }

  get inner() {
    if (this.#inner === undefined) throw new Error(`this ${this.constructor.name} was freed`);
    return this.#inner;
  }

  /** What `work` gives; until then none of `owners` can be freed. */
  static async using(owners, work) {
    const inners = owners.map((owner) => owner.inner);
    owners.forEach((owner) => { owner.#users += 1; });
    try {
      return await work(...inners);
    } finally {
      owners.forEach((owner) => { owner.#users -= 1; });
    }
  }

  free() {
    if (this.#users > 0) throw new Error(`this ${this.constructor.name} is in use: free it when what it does is done`);
    const inner = this.#inner;
    this.#inner = undefined;
    inner?.free();
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }
}

/** What the browser tells of its GPU; no name where there is none. */
async function gpuInfo() {
  const adapter = await globalThis.navigator?.gpu?.requestAdapter();
  if (!adapter) return { isSoftware: false };
  const { description, vendor, architecture, isFallbackAdapter } = adapter.info ?? {};
  const name = description || [vendor, architecture].filter(Boolean).join(' ') || 'GPU';
  return { name, isSoftware: isFallbackAdapter ?? adapter.isFallbackAdapter ?? false };
}

export class Voxelizer extends Owner {
  static async open({ gpu = true } = {}) {
    await init();
    const { name, isSoftware } = gpu ? await gpuInfo() : { isSoftware: false };
    const isRefused = isSoftware && gpu !== 'software';
    const reason = isRefused ? 'WebGPU is emulated in software here, slower than the CPU'
      : gpu ? 'there is no WebGPU here' : 'the GPU was not asked for';
    const voxelizer = new Voxelizer(await wasm.Engine.open(isRefused ? undefined : name, reason));
    voxelizer.isSoftware = isSoftware;
    voxelizer.adapter = voxelizer.inner.adapter ?? null;
    voxelizer.reason = voxelizer.inner.without ?? null;
    return voxelizer;
  }

  async voxelize(mesh, options = {}, sidecars = []) {
    return Owner.using([this], async (engine) => {
      if (mesh instanceof Mesh) {
        return Owner.using([mesh], async (model) => new Grid(await engine.voxelize(model, json(options))));
      }
      const { color, attributes } = options;
      const own = mesh.positions ? await Mesh.of(mesh)
        : await Mesh.open(mesh, sidecars, { colors: color !== 'none', attributes });
      try {
        return await this.voxelize(own, options);
      } finally {
        own.free();
      }
    });
  }

  async picture(grid, options = {}) {
    return Owner.using([this, grid], (engine, voxels) => engine.picture(voxels, json(options)));
  }

  async turntable(grid, extension, { frames = 48, fps = Math.min(50, Math.ceil(frames / 4)), signal, ...options } = {}) {
    if (!['gif', 'png'].includes(extension)) throw refusal(`'${extension}' is no animation: use 'gif' or 'png'`);
    wholes('frames', [frames]);
    wholes('fps', [fps], Uint16Array);
    const parts = [];
    const sink = new Sink((part) => parts.push(part), signal);
    return Owner.using([this, grid], async (engine, voxels) => {
      try {
        await engine.turntable(voxels, extension, frames, fps, json(options), sink);
      } catch (error) {
        throw sink.cause(error);
      }
      return joined(parts, 'the animation');
    });
  }

  viewer(grid) {
    return new Viewer(this.inner.viewer(grid.inner));
  }
}

export class Mesh extends Owner {
  static async open(file, sidecars = [], { colors = true, attributes = [] } = {}) {
    await init();
    const names = sidecars.map(({ name }) => text('the name of a sidecar file', name));
    const contents = sidecars.map(bytesOf);
    const name = text('the name of the mesh', file.name);
    const options = json({ attributes, ...(colors ? {} : { color: 'none' }) });
    return new Mesh(wasm.Model.read(name, bytesOf(file), names, contents, options));
  }

  static async of({ positions, indices, colors, uvs, texture, flipY = true, name = 'mesh' }) {
    await init();
    const count = numbers('positions', positions, 3) / 3;
    const corners = indices ? wholes('indices', indices) : Uint32Array.from({ length: count }, (_, index) => index);
    numbers('indices', corners, 3);
    if (Boolean(uvs) !== Boolean(texture) || (uvs && colors)) throw refusal('give colors, or uvs with a texture, not both');
    const look = colors ? lookOfColors(colors, count) : uvs && lookOfTexture(uvs, texture, flipY, count);
    return new Mesh(wasm.Model.of_arrays(text('the name of the mesh', name), new Float64Array(positions), corners, look));
  }

  get triangles() { return this.inner.triangles; }

  get bounds() {
    const [x, y, z, ...max] = this.inner.bounds;
    return [[x, y, z], max];
  }

  estimate(options = {}) { return JSON.parse(this.inner.estimate(json(options))); }

  placed(options = {}) { return this.inner.placed(json(options)); }

  distances(width, options = {}) { return new Distances(wasm.Field.measure(this.inner, width, json(options))); }
}

/** What is written to files. */
class Writable extends Owner {
  constructor(inner) {
    super(inner);
    this.report = JSON.parse(inner.report);
  }

  writeTo(extension, take, options = {}) {
    const sink = new Sink(take);
    try {
      this.inner.write(text('the extension', extension), json(options), sink);
    } catch (error) {
      throw sink.cause(error);
    }
  }

  write(extension, options = {}) {
    const parts = [];
    this.writeTo(extension, (part) => parts.push(part), options);
    return joined(parts, `the .${extension} file`);
  }
}

export class Distances extends Writable {}

export class Grid extends Writable {
  static async open(file) {
    await init();
    return new Grid(wasm.Voxels.open(text('the name of the file', file.name), bytesOf(file)));
  }

  get dims() { return this.report.dims; }
  get occupied() { return this.report.occupied; }
  get hash() { return this.report.hash; }

  contains(...voxel) {
    const isInside = (index, axis) => Number.isInteger(index) && index >= 0 && index < this.dims[axis];
    return voxel.length === 3 && voxel.every(isInside) && this.inner.contains(...voxel);
  }

  voxels() { return this.inner.voxels(); }
  colors() { return this.inner.colors() ?? null; }
  dense() { return this.inner.dense(); }

  slice(axis, index) {
    const across = ['x', 'y', 'z'].indexOf(axis);
    const isInside = Number.isInteger(index) && index >= 0 && index < this.dims[across];
    if (!isInside) throw refusal(`there is no layer ${index} across ${axis} in a grid of ${this.dims.join(' x ')} voxels`);
    const [width, height] = this.dims.filter((_, other) => other !== across);
    return { width, height, data: new Uint8ClampedArray(this.inner.slice(across, index).buffer) };
  }

  mesh() {
    const surface = this.inner.surface();
    const [positions, normals, indices] = [surface.positions(), surface.normals(), surface.indices()];
    const colors = this.report.has_colors ? surface.colors() : null;
    surface.free();
    return { positions, normals, indices, colors };
  }

  lost(extension, options = {}) { return this.inner.lost(text('the extension', extension), json(options)); }
}

export class Viewer extends Owner {
  async draw(options = {}) { return Owner.using([this], (viewer) => viewer.draw(json(options))); }

  pick(options, x, y) { return JSON.parse(this.inner.pick(json(options), x, y)); }

  camera(options) { return JSON.parse(this.inner.camera(json(options))); }

  async present(options = {}) { return Owner.using([this], (viewer) => viewer.present(json(options))); }
}

export async function formats() {
  await init();
  return JSON.parse(wasm.formats());
}

export async function shaders() {
  await init();
  return JSON.parse(wasm.shaders());
}

export async function onProgress(callback) {
  await init();
  wasm.onProgress((step, share) => {
    try {
      callback(step, share);
    } catch (error) {
      // It does not end the work, and is reported as those of timers are.
      setTimeout(() => { throw error; });
    }
  });
}

export async function version() {
  await init();
  return wasm.version();
}
