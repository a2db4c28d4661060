// What was dropped or chosen: files, with the path of each inside its folder.

/** All files of a drop, folders and what is below them included. */
export async function ofDrop(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry?.());
  if (entries.some((entry) => entry?.isDirectory)) {
    return (await Promise.all(entries.filter(Boolean).map((entry) => ofEntry(entry, '')))).flat();
  }
  return [...transfer.files].map((file) => ({ name: file.name, file }));
}

async function ofEntry(entry, folder) {
  const name = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => {
      entry.file(resolve, (error) => reject(new Error(`${name}: ${error.message}`)));
    });
    return [{ name, file }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // A reader gives some at a time, and none at the end.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    found.push(...some);
  }
  return (await Promise.all(found.map((entry) => ofEntry(entry, `${name}/`)))).flat();
}

export function ofInput(input) {
  return [...input.files].map((file) => ({ name: file.webkitRelativePath || file.name, file }));
}

export const extensionOf = (name) => name.split('/').pop().match(/\.([^.]+)$/)?.[1].toLowerCase() ?? '';

/** The file to open: the chosen one, the first mesh, the first grid, or whatever there is; and all that could be. */
export function mainOf(files, formats, chosen) {
  const known = (list) => new Set(list.map((format) => format.extension));
  const meshes = known(formats.meshes);
  const grids = known(formats.grids.filter((format) => format.read));
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const isMesh = ({ name }) => meshes.has(extensionOf(name));
  const isGrid = ({ name }) => grids.has(extensionOf(name)) && !isMesh({ name });
  const models = [...sorted.filter(isMesh), ...sorted.filter(isGrid)];
  const main = models.find(({ name }) => name === chosen) ?? models[0] ?? sorted[0];
  return { main, isMesh: !isGrid(main), models };
}
