import { expect, test } from 'vitest'
import { compileForBrowsers } from '../../../src/service/plugins/sandbox/browser-files.ts'

const nested = (depth: number) => `const f = ${'<T,>(a = '.repeat(depth)}1${') => 1'.repeat(depth)}`

test.each([
  ['nested type parameters, which take exponential time', 'frontend.tsx' as const, nested(60), 'took longer than 1 second'],
  ['nested arrow functions', 'site.ts' as const, `const f = ${'(a = '.repeat(60)}1${'): T => 1'.repeat(60)}`, 'took longer than 1 second'],
  ['a large file', 'site.ts' as const, 'const a = 1\n'.repeat(50_000), 'has at most 512 KiB, but this one has 586'],
  ['a deep expression', 'site.ts' as const, `const a = ${'('.repeat(100_000)}1`, 'Maximum call stack size exceeded'],
])('%s: an error, and the next file is compiled', (_, name, source, error) => {
  expect(compileForBrowsers(name, source)).toEqual({ transpiled: null, status: 'ERROR', error: expect.stringContaining(error) })
  expect(compileForBrowsers('site.ts', 'export const a: number = 1')).toMatchObject({ status: 'TRANSPILED', error: null })
})
