// The mesh in the picture, drawn by WebGL with the camera of the voxels: flat, with its edges.

const VERTEX = `#version 300 es
in vec3 position;
uniform vec3 eye, right, up, back;
uniform vec2 film, depths;
out vec3 place, corner;
void main() {
  vec3 away = position - eye;
  float depth = -dot(away, back);
  place = position;
  corner = vec3(gl_VertexID % 3 == 0, gl_VertexID % 3 == 1, gl_VertexID % 3 == 2);
  float z = (depth * (depths.y + depths.x) - 2.0 * depths.y * depths.x) / (depths.y - depths.x);
  gl_Position = vec4(dot(away, right) / film.x, dot(away, up) / film.y, z, depth);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec3 place, corner;
uniform vec3 eye, right, up, back;
uniform vec4 cut;
out vec4 color;
void main() {
  vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
  vec3 footprint = fwidth(corner);
  if (dot(cut.xyz, place) > cut.w) discard;
  float facing = sign(dot(normal, eye - place));
  float direct = max(0.0, facing * dot(normal, normalize(0.4 * right + 0.8 * up + 0.6 * back)));
  // Edges are a pixel wide, and fade where triangles have only a few pixels.
  vec3 inside = smoothstep(0.5 * footprint, 1.5 * footprint, corner);
  float fade = 1.0 - smoothstep(0.1, 0.4, max(footprint.x, max(footprint.y, footprint.z)));
  float edge = fade * (1.0 - min(inside.x, min(inside.y, inside.z)));
  float shade = (0.25 + 0.55 * direct) * (1.0 - 0.5 * edge);
  color = vec4(pow(vec3(shade), vec3(1.0 / 2.2)), 1.0);
}`;

const unit = (vector) => vector.map((value) => value / Math.hypot(...vector));
const cross = ([a, b, c], [x, y, z]) => [b * z - c * y, c * x - a * z, a * y - b * x];

/** The directions to the right, up and to the eye of a camera of the module. */
function axesOf({ right, down }) {
  const [along, up] = [unit(right), unit(down).map((value) => -value)];
  return { right: along, up, back: cross(along, up) };
}

export class MeshPicture {
  /** Fails where the browser has no WebGL 2. */
  constructor() {
    this.canvas = document.createElement('canvas');
    const gl = this.canvas.getContext('webgl2', { preserveDrawingBuffer: true });
    if (!gl) throw new Error('this browser draws no mesh: it has no WebGL 2');
    this.gl = gl;
    /** The result whose mesh this draws; the page sets it. */
    this.shown = null;
    this.program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.bindAttribLocation(this.program, 0, 'position');
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS)) {
      throw new Error(`this browser draws no mesh: ${gl.getProgramInfoLog(this.program)}`);
    }
    gl.useProgram(this.program);
    gl.enable(gl.DEPTH_TEST);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
  }

  /** The corners of the triangles, nine coordinates each, in voxels of a grid of `dims`. */
  set(corners, dims) {
    const { gl } = this;
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    if (gl.getError() !== gl.NO_ERROR) throw new Error('the mesh is not drawn: the browser has too little memory for it');
    this.count = corners.length / 3;
    this.diagonal = Math.hypot(...dims);
    this.drawn = null;
  }

  /** A canvas of `size` pixels with the mesh, up to the layer of the cut; transparent beside it. */
  draw(camera, size, cut) {
    const wanted = JSON.stringify([camera, size, cut]);
    if (wanted === this.drawn) return this.canvas;
    this.drawn = wanted;
    const { gl, canvas } = this;
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    gl.viewport(0, 0, ...size);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const set = (name, ...values) => gl[`uniform${values.length}f`](gl.getUniformLocation(this.program, name), ...values);
    const { right, up, back } = axesOf(camera);
    for (const [name, vector] of Object.entries({ eye: camera.eye, right, up, back })) set(name, ...vector);
    set('film', ...size.map((side) => side * Math.hypot(...camera.right) / 2));
    set('depths', 0.01 * camera.distance, camera.distance + 4 * this.diagonal);
    set('cut', ...(cut ? [...[0, 1, 2].map((axis) => Number(axis === cut[0])), cut[1] + 1] : [0, 0, 0, 1]));
    gl.drawArrays(gl.TRIANGLES, 0, this.count);
    return canvas;
  }
}

/** Turns the lines and the letters of x, y and z in `svg`, of 56 units: the nearest is the last. */
export function turnAxes(svg, camera) {
  const { right, up, back } = axesOf(camera);
  const groups = [...svg.children].sort((a, b) => back[a.dataset.axis] - back[b.dataset.axis]);
  for (const group of groups) {
    const { axis } = group.dataset;
    const [x, y] = [right[axis], -up[axis]];
    const [line, letter] = group.children;
    for (const [name, value] of [['x2', 28 + 17 * x], ['y2', 28 + 17 * y]]) line.setAttribute(name, value.toFixed(2));
    for (const [name, value] of [['x', 28 + 23 * x], ['y', 28 + 23 * y]]) letter.setAttribute(name, value.toFixed(2));
  }
  svg.append(...groups);
}

/** A round length at the middle of the model, of 56 to 140 pixels where a pixel of the camera is `scale` of these. */
export function rulerOf({ right, distance }, scale, unitsPerVoxel) {
  const unitsPerPixel = distance * Math.hypot(...right) * unitsPerVoxel / scale;
  const most = 140 * unitsPerPixel;
  const power = 10 ** Math.floor(Math.log10(most));
  const length = [5, 2, 1].map((digit) => digit * power).find((length) => length <= most);
  return { length: Number(length.toPrecision(1)), pixels: length / unitsPerPixel };
}
