// The camera of the view, moved by mouse, touch and keyboard.

/** Yaw and pitch, in radians. `three-quarter` is that of `voxelize render`. */
const PRESETS = {
  'three-quarter': [0.6632, 0.4887],
  'front': [0, 0], 'back': [Math.PI, 0], 'left': [-Math.PI / 2, 0], 'right': [Math.PI / 2, 0],
  'top': [0, Math.PI / 2], 'bottom': [0, -Math.PI / 2],
};

const clamp = (low, x, high) => Math.min(high, Math.max(low, x));

export class Camera extends EventTarget {
  constructor(canvas) {
    super();
    this.canvas = canvas;
    this.pointers = new Map();
    this.reset('three-quarter');
    canvas.addEventListener('pointerdown', (event) => this.press(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const end of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(-0.0015 * event.deltaY * (event.deltaMode === 1 ? 30 : 1)), event);
    }, { passive: false });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  reset(preset) {
    [this.yaw, this.pitch] = PRESETS[preset];
    /** The pitch at which all fits the picture: what turns keeps its size. */
    this.fitPitch = this.pitch;
    this.zoom = 1;
    this.pan = [0, 0];
    this.changed(preset);
  }

  /** The view as a link has it: the name of a preset, or yaw, pitch, zoom and shift. */
  get text() {
    return this.preset ?? [this.yaw, this.pitch, this.zoom, ...this.pan].map((x) => Number(x.toFixed(3))).join();
  }

  show(text) {
    const [yaw, pitch, zoom, x, y] = text.split(',').map(Number);
    this.reset(Object.hasOwn(PRESETS, text) ? text : 'three-quarter');
    if (![yaw, pitch, zoom, x, y].every(Number.isFinite)) return;
    [this.yaw, this.pitch] = [yaw, clamp(-Math.PI / 2, pitch, Math.PI / 2)];
    [this.zoom, this.pan] = [clamp(0.3, zoom, 100), [clamp(-3, x, 3), clamp(-3, y, 3)]];
    this.changed();
  }

  changed(preset = null) {
    /** The name of what is seen, until it moves. */
    this.preset = preset;
    this.dispatchEvent(new Event('change'));
  }

  turn(x, y) {
    this.yaw -= x;
    this.pitch = clamp(-Math.PI / 2, this.pitch + y, Math.PI / 2);
    this.changed();
  }

  /** What the picture's shorter side has, in the unit of `pan`. */
  get reach() {
    return 2 / this.zoom;
  }

  /** Moves what is seen by parts of the picture's shorter side. */
  slide(x, y) {
    this.pan = [clamp(-3, this.pan[0] - this.reach * x, 3), clamp(-3, this.pan[1] + this.reach * y, 3)];
    this.changed();
  }

  /** What is under the pointer of `event` stays there. */
  zoomBy(factor, event = null) {
    const before = this.reach;
    this.zoom = clamp(0.3, this.zoom * factor, 100);
    if (event) {
      const { left, top, width, height } = this.canvas.getBoundingClientRect();
      const part = (1 - before / this.reach) / Math.min(width, height);
      this.slide((event.clientX - left - width / 2) * part, (event.clientY - top - height / 2) * part);
    }
    this.changed();
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event);
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const side = Math.min(this.canvas.clientWidth, this.canvas.clientHeight);
    const [x, y] = [(event.clientX - before.clientX) / side, (event.clientY - before.clientY) / side];
    const other = [...this.pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
    this.pointers.set(event.pointerId, event);
    if (other) {
      const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      this.slide(x / 2, y / 2);
      this.zoomBy(Math.max(1, apart(event)) / Math.max(1, apart(before)));
    } else if (event.shiftKey || event.buttons & 6) {
      this.slide(x, y);
    } else {
      this.turn(3 * x, 3 * y);
    }
  }

  key(event) {
    const step = 0.1;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (arrows[event.key]) {
      const [x, y] = arrows[event.key].map((c) => step * c);
      if (event.shiftKey) this.slide(-x, -y); else this.turn(-x, -y);
    } else if (event.key === '+' || event.key === '=') {
      this.zoomBy(1.2);
    } else if (event.key === '-') {
      this.zoomBy(1 / 1.2);
    } else if (event.key === '0' || event.key === 'Home') {
      this.reset('three-quarter');
    } else {
      return;
    }
    event.preventDefault();
  }

  get options() {
    const { yaw, pitch, fitPitch, zoom, pan } = this;
    return { yaw, pitch, fitPitch, zoom, pan };
  }
}
