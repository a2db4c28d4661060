// Compiles every file with Tint, the WGSL compiler of Chromium and Dawn, which refuses things that
// naga accepts, and makes a pipeline of each kernel with the default limits of WebGPU.
//
// usage: node check.mjs FOLDER [STAGES], with FOLDER/NAME.wgsl for each kernel NAME,
// FOLDER/NAME.module.wgsl for each file without an entry point, and FOLDER/NAME.scene.wgsl for each
// kernel NAME that reads only a scene, as group 0, in a layout for STAGES
// needs: npm install webgpu; a Vulkan driver that Dawn accepts, such as SwiftShader
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);

// As of `SceneBuffers::layout`.
function sceneLayout(device, visibility) {
    const types = ["uniform", ...Array(4).fill("read-only-storage")];
    const entries = types.map((type, binding) => ({ binding, visibility, buffer: { type } }));
    const scene = device.createBindGroupLayout({ entries });
    return device.createPipelineLayout({ bindGroupLayouts: [scene] });
}

async function compile(device, name, code, stages) {
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ label: name, code });
    const { messages } = await module.getCompilationInfo();
    if (name) {
        const layout = stages ? sceneLayout(device, stages) : "auto";
        device.createComputePipeline({ layout, compute: { module, entryPoint: name } });
    }
    const error = await device.popErrorScope();
    const said = messages.map((m) => `${m.type} in line ${m.lineNum}: ${m.message}`);
    return error ? [...said, error.message] : said;
}

const gpu = create([]);
const adapter = await gpu.requestAdapter();
if (!adapter) {
    console.error("tint: Dawn found no adapter");
    process.exit(2);
}
const device = await adapter.requestDevice();

// A check that cannot fail is none: Tint wants parentheses here, and naga does not.
const canary = "@compute @workgroup_size(1) fn canary() { let x = true || false && true; }";
if ((await compile(device, "canary", canary)).length === 0) {
    console.error("tint: the canary was accepted");
    process.exit(1);
}

const folder = process.argv[2];
const files = readdirSync(folder).filter((file) => file.endsWith(".wgsl"));
let kernels = 0;
let faults = 0;
for (const file of files) {
    const name = file.endsWith(".module.wgsl") ? undefined : file.replace(/(\.scene)?\.wgsl$/, "");
    const stages = file.endsWith(".scene.wgsl") ? Number(process.argv[3]) : undefined;
    kernels += name ? 1 : 0;
    const code = readFileSync(join(folder, file), "utf8");
    for (const said of await compile(device, name, code, stages)) {
        console.error(`${file}: ${said}`);
        faults += 1;
    }
}
console.log(`tint: ${files.length} files, ${kernels} kernels, ${faults} complaints`);
process.exit(files.length > 0 && faults === 0 ? 0 : 1);
