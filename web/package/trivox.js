// Exact voxelization of triangle meshes, by WebGPU and WebAssembly. Types and docs: trivox.d.ts.

import start, * as wasm from './wasm/trivox_web.js';

let started;

/** The bytes of the module: a page fetches them itself, Node reads the file beside this one. */
async function source() {
  const url = new URL('./wasm/trivox_web_bg.wasm', import.meta.url);
  if (url.protocol !== 'file:') return url;
  const { readFile } = await import('node:fs/promises');
  return readFile(url);
}

export function init(module) {
  started ??= (async () => start({ module_or_path: await (module ?? source()) }))();
  return started;
}

/** Frees what `object` has in WebAssembly's memory when it is collected, if not before. */
function owned(object, inner) {
  Object.defineProperty(object, 'inner', { value: inner });
  return object;
}

/** What the browser tells of its GPU; `undefined` where there is none. */
async function nameOfGpu() {
  const adapter = await globalThis.navigator?.gpu?.requestAdapter();
  if (!adapter) return undefined;
  const { description, vendor, architecture } = adapter.info ?? {};
  return description || [vendor, architecture].filter(Boolean).join(' ') || 'GPU';
}

export class Voxelizer {
  static async open({ gpu = true } = {}) {
    await init();
    const name = gpu ? await nameOfGpu() : undefined;
    const voxelizer = owned(new Voxelizer(), await wasm.Engine.open(name));
    voxelizer.adapter = voxelizer.inner.adapter ?? null;
    voxelizer.reason = gpu && name === undefined ? 'there is no WebGPU here' : voxelizer.inner.without ?? null;
    return voxelizer;
  }

  async voxelize({ name, bytes }, options = {}, sidecars = []) {
    const names = sidecars.map((file) => file.name);
    const contents = sidecars.map((file) => new Uint8Array(file.bytes));
    const model = this.inner.read(name, bytes, names, contents, JSON.stringify(options));
    try {
      return gridOf(await this.inner.voxelize(model));
    } finally {
      model.free();
    }
  }

  picture(grid, options = {}) {
    return this.inner.picture(grid.inner, JSON.stringify({ size: [1024, 1024], ...options }));
  }

  viewer(grid) {
    return owned(new Viewer(), this.inner.viewer(grid.inner));
  }

  free() {
    this.inner.free();
  }
}

function gridOf(voxels) {
  const grid = owned(new Grid(), voxels);
  grid.report = JSON.parse(voxels.report);
  return grid;
}

export class Grid {
  static async open({ name, bytes }) {
    await init();
    return gridOf(wasm.Voxels.open(name, bytes));
  }

  get dims() { return this.report.dims; }
  get occupied() { return this.report.occupied; }
  get hash() { return this.report.hash; }

  contains(x, y, z) { return this.inner.contains(x, y, z); }
  voxels() { return this.inner.voxels(); }
  write(extension) { return this.inner.write(extension); }
  lost(extension) { return this.inner.lost(extension); }
  free() { this.inner.free(); }
}

export class Viewer {
  draw(options) { return this.inner.draw(JSON.stringify(options)); }
  present(options) { return this.inner.present(JSON.stringify(options)); }
  free() { this.inner.free(); }
}

export async function formats() {
  await init();
  return JSON.parse(wasm.formats());
}

export async function shaders() {
  await init();
  const list = wasm.shaders();
  return Object.fromEntries(list.flatMap((name, i) => (i % 2 ? [] : [[name, list[i + 1]]])));
}

export async function onProgress(callback) {
  await init();
  wasm.onProgress((step, share) => callback(step, share < 0 ? null : share));
}

export async function version() {
  await init();
  return wasm.version();
}
