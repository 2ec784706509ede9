import { expect, test } from 'vitest'
import { circles, engineFiles, files, type Import, importsOf, root, sourceOf } from './harness/imports.ts'
import { floors, layerOf, shared, strangers } from './layers.ts'

// Holds the imports of `src/` against the layer table (`layers.ts`). A folder left out of it, or an import it does not allow, fails with the line that breaks it.

const line = (file: string, { line, target }: Import, why: string) => `${file}:${line} imports ${target}: ${why}`

test('every import points down the layer table', () => {
  const rows = new Map([...floors.flatMap(({ rooms }) => Object.entries(rooms)), ...Object.entries(shared)])
  const floorOf = new Map(floors.flatMap(({ name, rooms }) => Object.keys(rooms).map((room) => [room, name])))
  const wrong = files.flatMap((file) => {
    const from = layerOf(file)
    const allowed = rows.get(from)
    if (!allowed) return [`${file}: ${from} is not in the layer table`]
    return importsOf(file).flatMap((one) => {
      if (one.target === '../package.json') return [] // facts about the package, of no layer
      const to = layerOf(one.target)
      const isAllowed = to === from || to in shared || allowed.includes(to) || allowed.includes(floorOf.get(to) ?? '')
      return isAllowed ? [] : [line(file, one, `${from} may not use ${to}`)]
    })
  })
  expect(wrong).toEqual([])
})

test('the floors stand in the order of their imports', () => {
  const order = floors.map(({ name }) => name)
  const places = new Map(floors.flatMap(({ name, rooms }) => Object.keys(rooms).map((room) => [room, order.indexOf(name)])))
  const wrong = files.flatMap((file) =>
    importsOf(file).flatMap((one) => {
      const [from, to] = [layerOf(file), layerOf(one.target)]
      return from in shared || to in shared || (places.get(to) ?? -1) <= (places.get(from) ?? -1) || one.target === '../package.json'
        ? []
        : [line(file, one, `${to} is on a higher floor than ${from}`)]
    }),
  )
  expect(wrong).toEqual([])
})

test('pages take types from the schemas of answers, and no code', () => {
  const ofDoors = files.filter((file) => file.startsWith('web/') && importsOf(file).some(({ target }) => target.startsWith('doors/')))
  expect(ofDoors.length).toBeGreaterThan(30)
  expect(ofDoors.filter((file) => /^import (?!type )[^']*'[^']*\/doors\/|import\('[^']*\/doors\//m.test(sourceOf(file)))).toEqual([])
})

test('siblings do not know each other', () => {
  const wrong: string[] = []
  for (const { folder, except = [] } of strangers) {
    const childOf = (file: string) => {
      const rest = file.startsWith(`${folder}/`) ? file.slice(folder.length + 1) : ''
      const child = folder.endsWith('/destinations') ? rest : rest.includes('/') ? rest.slice(0, rest.indexOf('/')) : ''
      return except.includes(child) ? '' : child
    }
    for (const file of files) {
      const child = childOf(file)
      if (!child || file.endsWith('registry.ts')) continue
      for (const one of importsOf(file)) {
        const other = childOf(one.target)
        if (other && other !== child) wrong.push(line(file, one, 'it is its sibling'))
      }
    }
  }
  expect(wrong).toEqual([])
})

const outsideEngines = files.filter((file) => !engineFiles.some((place) => file.startsWith(place)))

test('engine packages are imported only where engines live', () => {
  expect(outsideEngines.filter((file) => /from '(@duckdb\/|chdb|@clickhouse\/)/.test(sourceOf(file)))).toEqual([])
})

test('files of an engine are imported only where engines live', () => {
  const wrong = outsideEngines.flatMap((file) =>
    importsOf(file)
      .filter(({ target }) => /\/(duckdb|clickhouse)\//.test(`/${target}`))
      .map((one) => line(file, one, 'it belongs to one engine')),
  )
  expect(wrong).toEqual([])
})

test('what an engine has is reached by its name only there, and in the choice that open() takes', () => {
  const members = /(?<!control)\.(duckdb|clickhouse)\b(?!\.ts)/
  const wrong = outsideEngines
    .filter((file) => file !== root)
    .flatMap((file) =>
      sourceOf(file)
        .split('\n')
        .flatMap((text, i) => (members.test(text) ? [`${file}:${i + 1}: ${text.trim()}`] : [])),
    )
  expect(wrong).toEqual([])
})

test('the root holds what joins the parts, and nothing else', () => {
  expect(files.filter((file) => !file.includes('/')).sort()).toEqual([
    'engine.ts',
    'following.ts',
    'index.ts',
    'open-cluster.ts',
    'open-projects.ts',
    'project.ts',
    'waymark.ts',
  ])
})

test('no file imports itself through others, not even a type', () => {
  expect(circles()).toEqual([])
})

test('no folder has more files side by side than a reader takes in at once', () => {
  const counts = new Map<string, number>()
  for (const file of files) {
    const folder = file.slice(0, Math.max(0, file.lastIndexOf('/')))
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  // One file for each resource.
  counts.delete('doors/http/resources')
  expect([...counts].filter(([, count]) => count > 36)).toEqual([])
})
