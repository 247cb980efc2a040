// The scenes of `sprag-bench rest` as MuJoCo steps them, beside the engines of its JSON: a table, on stdout.
//     node mujoco.mjs SPRAG_BENCH REST.json NODE_MODULES/@mujoco/mujoco
//
// MuJoCo runs in WebAssembly here, and is not timed.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [bench, rest, module] = process.argv.slice(2)
if (module === undefined) {
    console.error('mujoco.mjs: expected sprag-bench, its rest.json and the folder of @mujoco/mujoco')
    process.exit(2)
}
const mujoco = await (await import(pathToFileURL(resolve(module, 'mujoco.js')))).default()
const { results } = JSON.parse(readFileSync(rest, 'utf8'))

const STEP = 1 / 240 // s, and as rest_suite.c has it:
const frictionOver = (path) => (3 * 3) / (2 * 0.5 * 9.81 * (path + (3 * STEP) / 2))

const manners = {
    'MuJoCo, as it is': { option: '', geom: '' },
    // As stiff as the step allows, with a round cone.
    'MuJoCo, elliptic and stiff': {
        option: 'integrator="implicitfast" cone="elliptic" impratio="10"',
        geom: `solref="${2 * STEP} 1" solimp="0.99 0.999 0.001"`,
    },
}

// Of free bodies: place and quaternion each.
const positions = (qpos) => Array.from({ length: qpos.length / 7 }, (_, i) => Array.from(qpos.slice(7 * i, 7 * i + 3)))

// m, the farthest that a body is from where it was.
const movedBy = (before, after) =>
    Math.max(...before.map((x, i) => Math.hypot(x[0] - after[i][0], x[1] - after[i][1], x[2] - after[i][2])))

function measure(scene, manner) {
    const set = scene.set.split(' ').filter((key) => key !== '')
    const text = execFileSync(bench, ['mjcf', scene.scene, ...set], { encoding: 'utf8' })
        .replace('<option', `<option timestep="${STEP}" ${manner.option}`)
        .replaceAll('<geom', `<geom ${manner.geom}`)
    const model = mujoco.MjModel.from_xml_string(text)
    const data = new mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    const first = Math.round(scene.from / STEP), last = Math.round(scene.to / STEP)
    let before = null
    for (let k = 0; k < last; ++k) {
        if (k === first)
            before = positions(data.qpos)
        mujoco.mj_step(model, data)
    }
    const path = movedBy(before, positions(data.qpos))
    data.delete()
    model.delete()
    return scene.slides ? frictionOver(path) : 1e3 * path
}

const cell = (value) => (value === null ? '-' : value < 1e-4 ? '< 1e-4' : String(Number(value.toPrecision(4))))
const row = (cells) => console.log(`| ${cells.join(' | ')} |`)

const engines = [...new Set(results.map((result) => result.engine))]
const others = engines.filter((engine) => engine !== 'Sprag')
row(['scene', 'right', ...others, ...Object.keys(manners), 'Sprag'])
row(Array(engines.length + 4).fill('---'))
for (const what of new Set(results.map((result) => result.what))) {
    const of = {} // by engine
    for (const result of results.filter((result) => result.what === what))
        of[result.engine] = result
    row([what, of.Sprag.right, ...others.map((engine) => cell(of[engine].value)),
        ...Object.values(manners).map((manner) => cell(measure(of.Sprag, manner))), cell(of.Sprag.value)])
}
console.log(`\nMuJoCo ${mujoco.mj_versionString()}; steps of ${(1e3 * STEP).toFixed(2)} ms; -: too slow.`)
