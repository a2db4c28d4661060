/** Exact voxelization of triangle meshes: the same bits on every GPU, CPU and browser. */

/// <reference lib="esnext.disposable" />

/** A type of pages, of workers and, for some, of Node. */
type Global<Name extends string> =
  typeof globalThis extends { [name in Name]: { prototype: infer Type } } ? Type : never;

/** A file: its name, whose extension says the format, and its bytes. */
export interface NamedFile {
  name: string;
  bytes: ArrayBuffer | ArrayBufferView;
}

/** What to compute: the options of the program `voxelize`, with its defaults. */
export interface Options {
  /** Voxels along the longest axis; 256 unless `voxelSize`, `cube` or `dims` is given. */
  res?: number;
  /** Edge length of a voxel in mesh units, instead of `res`. */
  voxelSize?: number;
  /** Minimum and maximum corner of what is voxelized, in mesh units; the mesh's own by default. */
  bounds?: [[number, number, number], [number, number, number]];
  /** Voxels to add on all six sides. */
  pad?: number;
  /**
   * A grid of so many voxels along each axis, with the mesh in its centre, as large as it fits unless `res` or
   * `voxelSize` is given; without `bounds` and `pad`.
   */
  cube?: number;
  /** As `cube`, of so many voxels along x, y and z. */
  dims?: [number, number, number];
  /** A factor of all coordinates, applied first. */
  scale?: number;
  /** Then rotations, such as `x:90`: an axis, and degrees counter-clockwise as seen from its tip. */
  rotate?: string[];
  /** Whether the centre of the mesh's bounding box is then moved to the origin. */
  center?: boolean;
  mode?: 'surface' | 'thin' | 'solid';
  /** How the inside of a solid is found. */
  fill?: 'auto' | 'parity' | 'winding' | 'flood' | 'vote';
  /** Whether the voxels that the surface touches belong to the solid. */
  includeSurface?: boolean;
  /** Whether voxels stay in which everything is transparent. */
  keepTransparent?: boolean;
  /** `auto` for the mesh's colours, `none`, or an sRGB colour in six hexadecimal digits such as `#C08040`. */
  color?: string;
  /** The colour of a solid's voxels far from its surface; the mean of the surface's by default. */
  interiorColor?: string;
  /** How textures are read where their texels are larger than voxels; `auto` is as the file says, or `nearest`. */
  filter?: 'auto' | 'nearest' | 'linear';
  /** The mesh's up axis. */
  up?: 'y' | 'z';
  /** `auto` is the GPU where there is one, and the CPU where it fails. */
  backend?: 'auto' | 'gpu' | 'cpu';
}

/** What is known of a grid; lengths are in mesh units, times in milliseconds. */
export interface Report {
  dims: [number, number, number];
  occupied: number;
  bricks: number;
  /** The hash that `voxelize` prints: a function of the voxels alone. */
  hash: string;
  /** Whether the voxels have colours. */
  has_colors: boolean;
  warnings: string[];
  /** `null` for a grid of a file that does not say. */
  voxel_size: number | null;
  origin: [number, number, number] | null;
  /** Of voxels of a mesh. */
  mesh?: string;
  triangles?: number;
  degenerate?: number;
  /** Lattice units in a voxel, as a power of two. */
  fraction_bits?: number;
  backend?: 'cpu' | 'gpu';
  adapter?: string | null;
  /** Why this backend. */
  reason?: string;
  fill?: { rule: string; reason: string; caps?: string } | null;
  transparent?: number;
  /** Milliseconds of each step that was taken. */
  timings_ms?: Record<string, number>;
  /** Of a grid that was opened. */
  grid?: string;
}

/**
 * What computes: the CPU by WebAssembly, and a GPU by WebGPU. Where a method throws a `WebAssembly.RuntimeError`, the
 * module has ended, most often for want of memory: compute in a Worker, and start another.
 */
export class Voxelizer {
  private constructor();
  /**
   * Opens the GPU where there is one, unless `gpu` is false. One that the browser emulates in software, 10 to 100 times
   * slower than the CPU, is opened only for `'software'`.
   */
  static open(options?: { gpu?: boolean | 'software' }): Promise<Voxelizer>;
  /** The GPU's name; `null` where there is none. */
  readonly adapter: string | null;
  /** Why there is no GPU. */
  readonly reason: string | null;
  /** Whether the browser has a GPU in software only. */
  readonly isSoftware: boolean;
  /**
   * The voxels of a mesh. `sidecars` are the files beside it: materials, textures, buffers, with names as the
   * mesh has them. Rejects with an `Error` of the message that the program prints; its `code` is stable, such as
   * `read.line`.
   */
  voxelize(mesh: NamedFile, options?: Options, sidecars?: NamedFile[]): Promise<Grid>;
  /** The PNG that `voxelize render` draws. */
  picture(grid: Grid, options?: PictureOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** Readies `grid` to be drawn again and again. */
  viewer(grid: Grid): Viewer;
  /** Frees its memory at once; an error while it computes. */
  free(): void;
  [Symbol.dispose](): void;
}

/** A set of voxels. */
export class Grid {
  private constructor();
  /**
   * Reads a file with voxels: .vox, .npy, .npz, .binvox, .bricks, .vdb, .nvdb, .schem,
   * .litematic.
   */
  static open(file: NamedFile): Promise<Grid>;
  readonly report: Report;
  readonly dims: [number, number, number];
  readonly occupied: number;
  readonly hash: string;
  /** Whether a voxel is occupied; not outside the grid. */
  contains(x: number, y: number, z: number): boolean;
  /** The indices of the occupied voxels: x, y, z of one after the other, 12 bytes a voxel. */
  voxels(): Uint32Array<ArrayBuffer>;
  /** Their colours in the same order: sRGB and opacity, 4 bytes a voxel; `null` for a grid without colours. */
  colors(): Uint8Array<ArrayBuffer> | null;
  /**
   * The file that the program writes with this extension. A `RangeError` where it is too long for one array, which
   * holds 2 GiB to 8 GiB by browser: `writeTo` has no such limit.
   */
  write(extension: string): Uint8Array<ArrayBuffer>;
  /** Calls `take` with each part of that file in order, of about 1 MiB. What `take` throws ends it, and is thrown. */
  writeTo(extension: string, take: (part: Uint8Array<ArrayBuffer>) => void): void;
  /** What a file with this extension does not hold: a sentence for each thing. */
  lost(extension: string): string[];
  /** Frees its memory at once. */
  free(): void;
  [Symbol.dispose](): void;
}

/** The options of `voxelize render`. */
export interface PictureOptions {
  /** Width and height in pixels. */
  size?: [number, number];
  view?: 'three-quarter' | 'iso' | 'front' | 'back' | 'left' | 'right' | 'top' | 'bottom';
  /** Degrees from the front to the right, and above the horizon; instead of those of `view`. */
  azimuth?: number;
  elevation?: number;
  zoom?: number;
  /** Rays along each side of a pixel. */
  samples?: number;
  transparent?: boolean;
}

/** A picture of a `Viewer`. */
export interface ViewOptions {
  /** Width and height of the whole picture, in pixels. */
  size: [number, number];
  /** The rows to draw: the first, and how many. */
  rows: [number, number];
  /** Around the up axis from the front to the right, in radians. */
  yaw: number;
  /** Above the horizon, in radians. */
  pitch: number;
  /** At 1 all is in the picture. */
  zoom: number;
  /** The point in the middle, right and up from the grid's, in parts of the grid's radius. */
  pan: [number, number];
  /** Rays along each side of a pixel. */
  samples: number;
  hasShadow: boolean;
  /** The axis that is cut, 0 to 2, and which part of the grid is shown, 0 to 1. */
  cut: [number, number] | null;
  /** sRGB colours at the top and at the bottom. */
  background: [[number, number, number], [number, number, number]];
}

/** A grid that is drawn again and again, on the GPU where the voxelizer has one. */
export class Viewer {
  private constructor();
  /** Rows of a picture, as RGBA bytes. */
  draw(options: ViewOptions): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * The same pixels as an image that stays on the GPU; nothing where the voxelizer has no GPU. Rejects where the
   * browser cannot present what it draws; such a browser may lose the GPU, and the voxelizer must be opened anew.
   */
  present(options: ViewOptions): Promise<Global<'ImageBitmap'> | undefined>;
  /** Frees its memory at once; an error while it draws. */
  free(): void;
  [Symbol.dispose](): void;
}

/**
 * Starts the WebAssembly module; all else does so by itself. `module` is where it is, or its bytes. Where it fails,
 * the next call tries again.
 */
export function init(
  module?: string | ArrayBuffer | ArrayBufferView | Global<'URL'> | Global<'Response'>,
): Promise<unknown>;
/** Has `callback` called while something is computed; `share` is `null` where it is not known. */
export function onProgress(callback: (step: string, share: number | null) => void): Promise<void>;
/** The file formats, as `voxelize formats --json` lists them. */
export function formats(): Promise<{ meshes: Format[]; grids: Format[] }>;
export interface Format {
  extension: string;
  name: string;
  carries: string;
  read?: boolean;
  written?: boolean;
  colors?: boolean;
}
/** The WGSL sources of all shaders, by name. */
export function shaders(): Promise<Record<string, string>>;
export function version(): Promise<string>;
