// Voxels of a three.js geometry, as an InstancedMesh. `node three.mjs [RESOLUTION]` voxelizes a torus knot.
import {
  BoxGeometry, Color, InstancedMesh, Matrix4, MeshStandardMaterial, SRGBColorSpace, TorusKnotGeometry,
} from 'three';
import { Voxelizer } from './trivox.js';

/** The numbers of an attribute, however they are stored: interleaved, of 16 bits, or bytes for 0 to 1. */
function numbersOf(attribute) {
  const { array, count, itemSize } = attribute;
  if (array instanceof Float32Array && !attribute.isInterleavedBufferAttribute) return array;
  const numbers = new Float32Array(count * itemSize);
  ['getX', 'getY', 'getZ', 'getW'].slice(0, itemSize).forEach((part, at) => {
    for (let vertex = 0; vertex < count; vertex += 1) numbers[vertex * itemSize + at] = attribute[part](vertex);
  });
  return numbers;
}

/** A BufferGeometry as `voxelize` takes it: its colours are linear light, also as bytes. */
export function arraysOf({ attributes: { position, color }, index }) {
  return { positions: numbersOf(position), indices: index?.array, colors: color && numbersOf(color) };
}

/** A cube for each voxel, in the coordinates of the mesh. */
export function instancesOf(grid) {
  const { voxel_size: size, origin } = grid.report;
  const [voxels, colors] = [grid.voxels(), grid.colors()];
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshStandardMaterial(), grid.occupied);
  const [matrix, color] = [new Matrix4().makeScale(size, size, size), new Color()];
  for (let i = 0; i < grid.occupied; i += 1) {
    const center = origin.map((corner, axis) => corner + (voxels[3 * i + axis] + 0.5) * size);
    mesh.setMatrixAt(i, matrix.setPosition(...center));
    if (!colors) continue;
    const [r, g, b] = colors.subarray(4 * i);
    mesh.setColorAt(i, color.setRGB(r / 255, g / 255, b / 255, SRGBColorSpace));
  }
  return mesh;
}

// As a program. A browser has no `process`.
const script = globalThis.process?.argv?.[1]?.replaceAll('\\', '/');
if (script && decodeURIComponent(new URL(import.meta.url).pathname).endsWith(script)) {
  const voxelizer = await Voxelizer.open();
  const grid = await voxelizer.voxelize(arraysOf(new TorusKnotGeometry()), { res: Number(process.argv[2] ?? 32) });
  console.log(grid.dims.join(' x '), instancesOf(grid).count, grid.hash);
}
