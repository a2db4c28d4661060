// The settings: from the form and into it, as options, as a link and as a command line.

const NAMES = ['res', 'mode', 'fill', 'include-surface', 'color', 'up', 'backend'];
const DEFAULTS = {
  'res': '128', 'mode': 'surface', 'fill': 'auto', 'include-surface': false, 'color': 'auto', 'up': 'y',
  'backend': 'auto',
};

export function read(form) {
  const values = {};
  for (const name of NAMES) {
    // Of a choice with drawings, a list of radio buttons.
    const field = form.elements[name];
    values[name] = field.type === 'checkbox' ? field.checked : field.value;
  }
  if (values.color === 'one') values.color = form.elements['one-color'].value.toUpperCase();
  return values;
}

export function write(form, values) {
  for (const name of NAMES) {
    const value = values[name] ?? DEFAULTS[name];
    const field = form.elements[name];
    if (field.type === 'checkbox') {
      field.checked = value === true || value === 'true';
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

/** As the package takes them. */
export function options(values) {
  const { res, mode, fill, color, up, backend } = values;
  const ofSolids = mode === 'solid' ? { fill, includeSurface: values['include-surface'] } : {};
  return { res: Number(res), mode, color, up, backend, ...ofSolids };
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

/** The command that does the same. */
export function command(values, name, extension, isGrid, picture, files) {
  // Not an option, and not a list of files.
  const plain = (file) => (/^[-@]/.test(file) ? `./${file}` : file);
  const [file, out] = [plain(name), plain(savedName(name, extension, files))];
  const words = ['voxelize', file, '-o', out];
  if (extension === 'png') {
    words.splice(1, 0, 'render');
    for (const [option, value] of Object.entries(picture)) {
      if (value !== 'three-quarter' && !(option === 'zoom' && value === 1)) words.push(`--${option}`, String(value));
    }
  } else if (isGrid) {
    words.splice(1, 0, 'convert');
  }
  if (isGrid) return words.map(quoted).join(' ');
  words.push('--res', String(Number(values.res)));
  if (values.mode !== 'surface') words.push('--mode', values.mode);
  if (values.mode === 'solid' && values.fill !== 'auto') words.push('--fill', values.fill);
  if (values.mode === 'solid' && values['include-surface']) words.push('--include-surface');
  if (values.color !== 'auto') words.push('--color', values.color);
  if (values.up !== 'y') words.push('--up', values.up);
  if (values.backend !== 'auto' && extension !== 'png') words.push('--backend', values.backend);
  return words.map(quoted).join(' ');
}
