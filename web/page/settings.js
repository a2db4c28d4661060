// The settings: from the form and into it, as options, as a link and as a command line.

const form = document.getElementById('settings');
// A browser may have restored the values of the last visit.
form.reset();
const NAMES = [...new Set([...form.elements].map(({ name }) => name))].filter((name) => name && name !== 'one-color');
const DEFAULTS = read();

/** Whether an option that is folded away at first differs from its default. */
export const hasMore = (values) => [...document.querySelectorAll('#more [name]')].some(({ name }) => values[name] !== DEFAULTS[name]);

export function read() {
  const values = {};
  for (const name of NAMES) {
    // Of a choice with drawings, a list of radio buttons.
    const field = form.elements[name];
    values[name] = field.type === 'checkbox' ? field.checked : field.value || field.defaultValue;
  }
  values.attributes = [...form.elements.attributes].filter(({ checked }) => checked).map(({ value }) => value).join();
  if (values.color === 'one') values.color = form.elements['one-color'].value.toUpperCase();
  return values;
}

/** Writes the settings of a link into the form. */
export function write(values) {
  for (const name of NAMES.filter((name) => Object.hasOwn(values, name))) {
    const [field, value] = [form.elements[name], values[name]];
    if (name === 'attributes') {
      for (const box of field) box.checked = value.split(',').includes(box.value);
    } else if (field.type === 'checkbox') {
      field.checked = value === 'true';
    } else if (name === 'color' && /^#[0-9a-f]{6}$/i.test(value)) {
      field.value = 'one';
      form.elements['one-color'].value = value.toLowerCase();
    } else {
      field.value = value;
      // A link may name what is not there.
      if (field.value !== value) field.value = DEFAULTS[name];
    }
  }
}

/** Rotations, about x first, as the program takes them. */
const rotations = (values) => ['x', 'y', 'z'].flatMap((axis) => {
  const degrees = Number(values[`rotate-${axis}`]);
  return degrees === 0 ? [] : [`${axis}:${degrees}`];
});

/** The size and the place, as the package takes them. */
function placement(values) {
  const size = values['voxel-size'];
  const sizing = size === '' ? { res: Number(values.res) } : { voxelSize: Number(size) };
  return { ...sizing, pad: Number(values.pad), rotate: rotations(values), up: values.up };
}

/** As the package takes them. */
export function options(values) {
  const { mode, fill, color, backend } = values;
  const ofMode = mode === 'solid' ? { fill, includeSurface: values['include-surface'] } : { keepTransparent: values['keep-transparent'] };
  const attributes = values.attributes === '' ? [] : values.attributes.split(',');
  return { ...placement(values), mode, color, backend, attributes, blend: values.blend, ...ofMode };
}

/** Those of distances, whose inside is that of the solid. */
export function optionsOfDistances(values) {
  return { ...placement(values), ...(values.mode === 'solid' ? { fill: values.fill } : {}) };
}

/** What a choice of the list of files stands for: voxels, distances, a picture or a turntable; and the extension. */
export function fileOf(choice) {
  const [extension, kind = extension === 'png' ? 'picture' : 'voxels'] = choice.split(' ');
  return { kind, extension };
}

/** As a link has them: what is not the default, and of `place` the model, the view and the cut. */
export function query(values, place) {
  const own = NAMES.filter((name) => values[name] !== DEFAULTS[name]).map((name) => [name, String(values[name])]);
  const given = Object.entries(place).filter(([, value]) => value && value !== 'three-quarter');
  return new URLSearchParams([...given, ...own]).toString();
}

const quoted = (word) => (/^[\w./:=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The name of the file that is saved: none of the files of the model. */
export function savedName(name, extension, files) {
  const taken = new Set(files.map((file) => file.toLowerCase()));
  let stem = name.replace(/\.[^.]*$/, '');
  while (taken.has(`${stem}.${extension}`.toLowerCase())) stem += '-voxels';
  return `${stem}.${extension}`;
}

/** The options of the size and the place of a mesh. */
function placed(values) {
  const size = values['voxel-size'];
  const words = size === '' ? ['--res', String(Number(values.res))] : ['--voxel-size', String(Number(size))];
  if (Number(values.pad) > 0) words.push('--pad', String(Number(values.pad)));
  for (const rotation of rotations(values)) words.push('--rotate', rotation);
  return words;
}

/** The options of the voxels. */
function voxels(values) {
  const words = [];
  if (values.mode !== 'surface') words.push('--mode', values.mode);
  if (values.mode === 'solid' && values.fill !== 'auto') words.push('--fill', values.fill);
  if (values.mode === 'solid' && values['include-surface']) words.push('--include-surface');
  if (values.mode !== 'solid' && values['keep-transparent']) words.push('--keep-transparent');
  if (values.color !== 'auto') words.push('--color', values.color);
  if (values.blend !== 'all' && values.color !== 'none') words.push('--blend', values.blend);
  if (values.up !== 'y') words.push('--up', values.up);
  return words;
}

const commandLine = (...words) => ['voxelize', ...words].map(quoted).join(' ');

/**
 * The command that writes the file of `choice`. `made` has its options: those of a picture, the width of distances,
 * whether colours are dithered, and the attributes that the format holds.
 */
export function command(values, name, choice, isGrid, made, files) {
  const { kind, extension } = fileOf(choice);
  // Not an option, and not a list of files.
  const plain = (file) => (/^[-@]/.test(file) ? `./${file}` : file);
  const [file, out] = [plain(name), plain(savedName(name, extension, files))];
  const backend = values.backend === 'auto' ? [] : ['--backend', values.backend];
  if (kind === 'distances') {
    const fill = values.mode === 'solid' && values.fill !== 'auto' ? ['--fill', values.fill] : [];
    const up = values.up === 'y' ? [] : ['--up', values.up];
    return commandLine(file, '-o', out, ...placed(values), '--distance', String(made.width), ...fill, ...up);
  }
  if (kind === 'voxels') {
    const ofFile = made.dither ? ['--dither'] : [];
    if (isGrid) return commandLine('convert', file, '-o', out, ...ofFile);
    const attributes = values.attributes.split(',').filter((name) => made.attributes?.includes(name));
    if (attributes.length) ofFile.push('--attributes', attributes.join());
    return commandLine(file, '-o', out, ...placed(values), ...voxels(values), ...ofFile, ...backend);
  }
  const ofPicture = Object.entries(made.picture).flatMap(([option, value]) => {
    if (value === 'three-quarter' || (option === 'zoom' && value === 1)) return [];
    return [option === 'frames' ? '--turntable' : `--${option}`, Array.isArray(value) ? value.join('x') : String(value)];
  });
  if (isGrid) return commandLine('render', file, '-o', out, ...ofPicture);
  const hasPlace = Number(values.pad) > 0 || rotations(values).length > 0;
  if (!hasPlace) return commandLine('render', file, '-o', out, ...ofPicture, ...placed(values), ...voxels(values));
  // A picture of a mesh is of one that is neither turned nor padded.
  const grid = plain(savedName(name, 'bricks', files));
  const first = commandLine(file, '-o', grid, ...placed(values), ...voxels(values), ...backend);
  return `${first} && ${commandLine('render', grid, '-o', out, ...ofPicture)}`;
}
