// What was dropped or chosen: files, with the path of each inside its folder.

/** The most bytes of a file, or of several together: WebAssembly has 4 GiB for the files and the mesh in them. */
export const LARGEST = 1_000_000_000;

export const grouped = (number) => number.toLocaleString('en');

export const extensionOf = (name) => name.split('/').pop().match(/\.([^.]+)$/)?.[1].toLowerCase() ?? '';

/** Materials, textures and buffers of a model. */
export const isPart = (name) => ['mtl', 'bin', 'png', 'jpg', 'jpeg', 'tga', 'bmp', 'webp', 'gif'].includes(extensionOf(name));

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

/**
 * The files, and in place of each .zip archive what is in it: by the specification of PKWARE, without its 64-bit sizes.
 * Sketchfab's have one inside. `room` is for the bytes of all of them.
 */
export async function unpacked(files, room = { left: LARGEST }, depth = 2) {
  const found = [];
  for (const one of files) {
    const isArchive = extensionOf(one.name) === 'zip' && depth > 0;
    found.push(...isArchive ? await unpacked(await entriesOf(one, room), room, depth - 1) : [one]);
  }
  return found;
}

const viewOf = async (blob) => new DataView(await blob.arrayBuffer());

async function entriesOf({ name: archive, file }, room) {
  const refusal = (why) => new Error(`${archive}: ${why}: unpack it, and drop what is in it`);
  // The end has 22 bytes and a comment.
  const tail = await viewOf(file.slice(-22 - 0xffff));
  let end = tail.byteLength - 22;
  while (end >= 0 && !(tail.getUint32(end, true) === 0x06054b50 && end + 22 + tail.getUint16(end + 20, true) === tail.byteLength)) end -= 1;
  if (end < 0) throw refusal('is no whole .zip archive');
  const [count, length, start] = [tail.getUint16(end + 10, true), tail.getUint32(end + 12, true), tail.getUint32(end + 16, true)];
  if (count === 0xffff || start === 0xffffffff) throw refusal('is an archive in the format Zip64');
  const list = await viewOf(file.slice(start, start + length));
  const entries = [];
  for (let at = 0, i = 0; i < count; i += 1) {
    if (at + 46 > list.byteLength || list.getUint32(at, true) !== 0x02014b50) throw refusal('is a damaged archive');
    const [flags, method] = [list.getUint16(at + 8, true), list.getUint16(at + 10, true)];
    const [crc, packed, size, local] = [16, 20, 24, 42].map((field) => list.getUint32(at + field, true));
    const [ofName, ...others] = [28, 30, 32].map((field) => list.getUint16(at + field, true));
    if (at + 46 + ofName > list.byteLength) throw refusal('is a damaged archive');
    const name = new TextDecoder().decode(new Uint8Array(list.buffer, at + 46, ofName)).replaceAll('\\', '/');
    at += 46 + ofName + others[0] + others[1];
    if (name.endsWith('/') || name.startsWith('__MACOSX/')) continue;
    if (flags & 1) throw refusal('is encrypted');
    if (method !== 0 && method !== 8) throw refusal(`has ${name} in a compression that browsers do not know`);
    if ([packed, size, local].includes(0xffffffff)) throw refusal('is an archive in the format Zip64');
    room.left -= size;
    if (room.left < 0) throw refusal(`has files of more than ${grouped(LARGEST)} bytes together`);
    entries.push({ name, crc, packed, size, local, isPacked: method === 8 });
  }
  const files = [];
  for (const { name, crc, packed, size, local, isPacked } of entries) {
    const head = await viewOf(file.slice(local, local + 30));
    if (head.byteLength < 30 || head.getUint32(0, true) !== 0x04034b50) throw refusal('is a damaged archive');
    const begin = local + 30 + head.getUint16(26, true) + head.getUint16(28, true);
    const content = file.slice(begin, begin + packed);
    const gzip = gzipOf(isPacked ? content : stored(content), crc, size);
    const whole = await inflated(gzip, size).catch(() => null);
    if (whole?.size !== size) throw refusal(`has a damaged file, ${name}`);
    files.push({ name, file: whole });
  }
  return files;
}

/** Bytes of 16- or 32-bit numbers, the lowest byte first. */
const little = (...numbers) => Uint8Array.from(numbers.flatMap(([bits, n]) => [...Array(bits / 8)].map((_, i) => n >>> (8 * i))));

/** Deflated content as a gzip file (RFC 1952), so that the browser tests the checksum of the archive. */
const gzipOf = (deflated, crc, size) => new Blob([Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255), deflated, little([32, crc], [32, size])]);

/** The content as deflate's blocks without compression (RFC 1951, 3.2.4). */
function stored(content) {
  const blocks = [];
  for (let at = 0; at < content.size; at += 0xffff) {
    const block = content.slice(at, at + 0xffff);
    blocks.push(Uint8Array.of(0), little([16, block.size], [16, ~block.size]), block);
  }
  return new Blob([...blocks, Uint8Array.of(1), little([16, 0], [16, 0xffff])]);
}

/** What is inflated, up to the first part past `size` bytes. */
async function inflated(gzip, size) {
  const reader = gzip.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const parts = [];
  let length = 0;
  for (let part; length <= size && !(part = await reader.read()).done; length += part.value.length) parts.push(part.value);
  reader.cancel().catch(() => {});
  return new Blob(parts);
}

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
