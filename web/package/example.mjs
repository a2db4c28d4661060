// node example.mjs MODEL.obj OUT.vox [RESOLUTION]: voxelizes a mesh, prints what the grid is, writes it.
import { readFile, writeFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { Voxelizer } from './trivox.js';

const [mesh, out, res = '128'] = process.argv.slice(2);
if (!mesh || !out) {
  console.error('usage: node example.mjs MODEL.obj OUT.vox [RESOLUTION]');
  process.exit(2);
}
try {
  const voxelizer = await Voxelizer.open();
  const file = { name: basename(mesh), bytes: await readFile(mesh) };
  const grid = await voxelizer.voxelize(file, { res: Number(res) });
  grid.report.warnings.forEach((warning) => console.error(`warning: ${warning}`));
  console.log(grid.dims.join(' x '), grid.occupied, grid.hash);
  await writeFile(out, grid.write(extname(out).slice(1)));
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
