import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { publicApi } from './public-api.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

test('what is exported is what was written down (`npm run build && npm run api` writes it anew)', () => {
  const exported = [...read('src/index.ts').matchAll(/export (?:type )?\{([\s\S]*?)\}/g)]
    .flatMap(([, names]) => names!.split(','))
    .map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/^.* as /, ''),
    )
    .filter((name) => name !== '')
  const written = [...read('test/package/public-api.txt').matchAll(/^\/\/ (\w+)(?:, declared as \w+)?$/gm)].map(([, name]) => name!)
  expect(written).toEqual([...exported].sort())
})

test('a declaration is found under the name that it is exported by', () => {
  const types = 'interface A { b: number }\ndeclare function f(a: A): void\ndeclare const c: 1\nexport { type A as Z, c, f }\n'
  expect(publicApi(types)).toBe(
    '// Z, declared as A\ninterface A { b: number }\n\n// c\ndeclare const c: 1\n\n// f\ndeclare function f(a: A): void\n',
  )
})
