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

/** An object that holds memory of WebAssembly until it is freed or collected. */
declare class Owner {
  protected constructor();
  /** Frees its memory at once; an error while it is in use. */
  free(): void;
  [Symbol.dispose](): void;
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
  /** Which surfaces in a voxel make its colour: the mean of all, that of those that are seen, or the most typical of these. */
  blend?: 'all' | 'visible' | 'none';
  /** Properties of the surface for each voxel, which .npz, .vti, .vdb, .nvdb and .ply files of points hold, and in part .vox; of a mesh that was read with them. */
  attributes?: Attribute[];
  /** The mesh's up axis. */
  up?: 'y' | 'z';
  /** `auto` is the GPU where there is one, and the CPU where it fails. */
  backend?: 'auto' | 'gpu' | 'cpu';
}

export type Attribute =
  | 'normal' | 'triangle' | 'material' | 'label' | 'area' | 'metallic' | 'roughness' | 'emission' | 'alpha' | 'uv'
  | 'coverage';

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
  fill?: { rule: string; reason: string; caps: string | null } | null;
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
export class Voxelizer extends Owner {
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
   * The voxels of a mesh. `sidecars` are the files beside that of a mesh: materials, textures, buffers, with names as
   * the mesh has them. Rejects with an `Error` of the message that the program prints; its `code` is stable, such as
   * `read.line`.
   */
  voxelize(mesh: Mesh | NamedFile | MeshArrays, options?: Options, sidecars?: NamedFile[]): Promise<Grid>;
  /** The PNG that `voxelize render` draws. */
  picture(grid: Grid, options?: PictureOptions): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * The animation that `voxelize render --turntable` draws: a GIF, or an animated PNG. By default it has 48 frames, and
   * one orbit takes four seconds; a GIF has at most 50 frames a second. `signal` ends it before the next frame.
   */
  turntable(
    grid: Grid,
    extension: 'gif' | 'png',
    options?: PictureOptions & { frames?: number; fps?: number; signal?: Global<'AbortSignal'> },
  ): Promise<Uint8Array<ArrayBuffer>>;
  /** Readies `grid` to be drawn again and again. An error where it does not fit on the GPU. */
  viewer(grid: Grid): Viewer;
}

/** Triangles in arrays, such as those of a `BufferGeometry` of three.js. */
export interface MeshArrays {
  /** x, y, z of each vertex, in mesh units. */
  positions: ArrayLike<number>;
  /** Three vertices of each triangle, counted from 0; without them each three vertices in turn. */
  indices?: Uint32Array | Uint16Array | Uint8Array | number[];
  /**
   * 3 or 4 numbers for each vertex: sRGB bytes, or linear light from 0 to 1. Those of three.js and glTF are linear,
   * also as bytes: divide these by 255.
   */
  colors?: Uint8Array | Uint8ClampedArray | Float32Array;
  /** u, v of each vertex in `texture`. */
  uvs?: ArrayLike<number>;
  /** A file (.png, .jpg and others), or RGBA bytes, row by row from the top, such as an `ImageData`. */
  texture?: NamedFile | { data: Uint8Array | Uint8ClampedArray; width: number };
  /** Whether v is 0 at the bottom of the texture, the default; false for the meshes of glTF. */
  flipY?: boolean;
  /** For messages. */
  name?: string;
}

/** A mesh in WebAssembly's memory, to be voxelized several times. */
export class Mesh extends Owner {
  private constructor();
  /**
   * Reads the mesh in a file; without its materials, textures and colours unless `colors` or `attributes` need them.
   * Rejects where the file holds no valid mesh.
   */
  static open(
    file: NamedFile,
    sidecars?: NamedFile[],
    options?: { colors?: boolean; attributes?: Attribute[] },
  ): Promise<Mesh>;
  /**
   * The mesh of these arrays. Rejects an index without a vertex, a position or a texture coordinate that is not finite,
   * a linear colour outside 0 to 1, a texture that is no image, and bytes that are not whole rows of `width` pixels.
   */
  static of(arrays: MeshArrays): Promise<Mesh>;
  readonly triangles: number;
  /** The minimum and the maximum corner, in mesh units. */
  readonly bounds: [[number, number, number], [number, number, number]];
  /** The cost of voxelizing it, without doing so. An error where `options` cannot place the mesh. */
  estimate(options?: Options): Estimate;
  /**
   * The corners of its triangles, nine coordinates each, in voxels of the grid that `options` give. An error where
   * they cannot place the mesh, and one with the code `memory` where WebAssembly has no room for the corners.
   */
  placed(options?: Options): Float32Array<ArrayBuffer>;
  /**
   * The signed distances of the voxels nearer than `width` voxels to its surface, as `voxelize --distance` computes
   * them, on the CPU. An error for a `width` that is not above 0 or is above 1024, and for options of voxels, such as
   * `mode` and `color`.
   */
  distances(width: number, options?: Options): Distances;
}

/** The estimated cost of voxelizing a mesh; the result does not depend on it. */
export interface Estimate {
  dims: [number, number, number];
  /** Pairs of a triangle and a brick of 8 x 8 x 8 voxels that it may touch: the measure of the work. */
  brick_pairs: number;
  /** Of the program's CPU path for the surface; WebAssembly takes about twice as long, a solid up to ten times. */
  core_seconds: number;
  /** Bytes of mesh and surface, without colours: an upper bound for most meshes. */
  memory: number;
  /** Bytes that a step may take here. */
  memory_limit: number;
}

/** Signed distances around the surface of a mesh. */
export class Distances extends Owner {
  private constructor();
  readonly report: Omit<Report, 'hash' | 'has_colors'> & { distances: { width: number; voxels: number } };
  /**
   * As those of `Grid`: .vdb and .nvdb have distances in mesh units, .npy and .npz in voxels. An error for other
   * formats.
   */
  write(extension: string): Uint8Array<ArrayBuffer>;
  writeTo(extension: string, take: (part: Uint8Array<ArrayBuffer>) => void): void;
}

/** A set of voxels. */
export class Grid extends Owner {
  private constructor();
  /**
   * Reads a file with voxels: .vox, .npy, .npz, .binvox, .vti, .bricks, .vdb, .nvdb,
   * .schem, .litematic. Rejects where the file holds no valid grid.
   */
  static open(file: NamedFile): Promise<Grid>;
  readonly report: Report;
  readonly dims: [number, number, number];
  readonly occupied: number;
  readonly hash: string;
  /** Whether a voxel is occupied; not outside the grid. */
  contains(x: number, y: number, z: number): boolean;
  /**
   * The indices of the occupied voxels: x, y, z of one after the other, 12 bytes a voxel. An error with the code
   * `memory` where WebAssembly has no room for them.
   */
  voxels(): Uint32Array<ArrayBuffer>;
  /**
   * Their colours in the same order: sRGB and opacity, 4 bytes a voxel; `null` for a grid without colours. An error
   * with the code `memory` where WebAssembly has no room for them.
   */
  colors(): Uint8Array<ArrayBuffer> | null;
  /**
   * A byte for each voxel of the grid, 1 where it is occupied: that of x, y, z is at `(x * dims[1] + y) * dims[2] + z`.
   * An error with the code `memory` where WebAssembly has no room for them.
   */
  dense(): Uint8Array<ArrayBuffer>;
  /**
   * A layer as the RGBA bytes of a picture, such as `ImageData` takes: an empty voxel is transparent. Across z it has x
   * to the right and y upwards, across y x and z, across x y and z. An error outside the grid, and one with the code
   * `memory` where WebAssembly has no room for the layer.
   */
  slice(axis: 'x' | 'y' | 'z', index: number): { width: number; height: number; data: Uint8ClampedArray<ArrayBuffer> };
  /**
   * Triangles of the visible faces, merged into rectangles of one colour. Positions are in voxels: times
   * `report.voxel_size`, plus `report.origin`, they are those of the mesh. Colours are sRGB and opacity of each vertex.
   * An error with the code `memory` where WebAssembly has no room for them.
   */
  mesh(): {
    positions: Float32Array<ArrayBuffer>;
    normals: Float32Array<ArrayBuffer>;
    indices: Uint32Array<ArrayBuffer>;
    colors: Uint8Array<ArrayBuffer> | null;
  };
  /**
   * The file that the program writes with this extension. A `RangeError` where it is too long for one array, which
   * holds 2 GiB to 8 GiB by browser: `writeTo` has no such limit. An error for an unknown format, and for one that
   * cannot hold the grid.
   */
  write(extension: string, options?: FileOptions): Uint8Array<ArrayBuffer>;
  /**
   * Calls `take` with each part of that file in order, of about 1 MiB. What `take` throws ends it, and is thrown. An
   * error for the formats that `write` refuses.
   */
  writeTo(extension: string, take: (part: Uint8Array<ArrayBuffer>) => void, options?: FileOptions): void;
  /** What a file with this extension does not hold: a sentence for each thing. An error for an unknown format. */
  lost(extension: string, options?: FileOptions): string[];
}

/** How a file is written. */
export interface FileOptions {
  /** Whether colours are dithered to the palette or the blocks of a format. */
  dither?: boolean;
  /** Whether a .ply is a point cloud, the centres of the voxels with their attributes, and no mesh of faces. */
  points?: boolean;
}

/** The options of `voxelize render`. */
export interface PictureOptions {
  /** Width and height in pixels: 1024 x 1024 by default. */
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
  /** Width and height of the whole picture, in pixels: 1 to 16,384 each. */
  size: [number, number];
  /** The rows to draw, inside the height: the first, counted from 0 at the top, and how many, at least 1. */
  rows: [number, number];
  /** Around the up axis from the front to the right, in radians. */
  yaw: number;
  /** Above the horizon, in radians. */
  pitch: number;
  /**
   * At 1 the grid just fits the picture, however it is turned by `yaw`; at 2 it is twice as large. Clamped to 0.1 to
   * 10,000.
   */
  zoom: number;
  /** The pitch at which it fits; `pitch` by default, and then a change of `pitch` changes the size. */
  fitPitch?: number;
  /** The point in the middle, right and up from the grid's, in halves of the picture's shorter side at a zoom of 1. */
  pan: [number, number];
  /** Rays along each side of a pixel, clamped to 1 to 8. */
  samples: number;
  hasShadow: boolean;
  /** The axis that is cut, 0 to 2, and the last layer that is shown. */
  cut: [number, number] | null;
  /** sRGB colours at the top and at the bottom. */
  background: [[number, number, number], [number, number, number]];
}

/** A grid that is drawn again and again, on the GPU where the voxelizer has one. */
export class Viewer extends Owner {
  private constructor();
  /** Rows of a picture, as RGBA bytes. Rejects with the code `memory` where WebAssembly has no room for them. */
  draw(options: ViewOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** The voxel at a point of the picture, in pixels from its top left corner, with sRGB and opacity; `null` for none. */
  pick(options: ViewOptions, x: number, y: number): { voxel: [number, number, number]; color: number[] | null } | null;
  /**
   * The camera of a picture, in voxels: the eye, the steps of a pixel to the right and down on the film at distance 1
   * from it, and the distance of the middle of the grid.
   */
  camera(options: ViewOptions): Record<'eye' | 'right' | 'down', [number, number, number]> & { distance: number };
  /**
   * The same pixels as an image that stays on the GPU; nothing where the voxelizer has no GPU. Rejects where the
   * browser cannot present what it draws; such a browser may lose the GPU, and the voxelizer must be opened anew.
   */
  present(options: ViewOptions): Promise<Global<'ImageBitmap'> | undefined>;
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
/** The file formats: meshes are read; grids are written, and read where `read` says so. */
export function formats(): Promise<{ meshes: Format[]; grids: Format[] }>;
export interface Format {
  extension: string;
  name: string;
  carries: string;
  read?: boolean;
  written?: boolean;
  colors?: boolean;
  attributes?: Attribute[];
  distances?: boolean;
}
/** The WGSL sources of all shaders, by name. */
export function shaders(): Promise<Record<string, string>>;
export function version(): Promise<string>;

// Without this line TypeScript would export `Owner`, too.
export {};
