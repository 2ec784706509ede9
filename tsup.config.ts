import { defineConfig } from 'tsup'

const shared = { target: 'node20', sourcemap: true } as const
// What is marked @internal is no part of the published types.
const types = { entry: { index: 'src/index.ts' }, compilerOptions: { stripInternal: true, paths: {} } }

export default defineConfig([
  {
    ...shared,
    // internal/ is for the conformance runner, not part of the package: the server with its surroundings in reach, and the cases of ingestion.
    entry: {
      index: 'src/index.ts',
      'internal/world': 'test/conformance/world.ts',
      'internal/ingestion': 'test/ingestion/cases.ts',
      'internal/plugins': 'test/plugins/cases.ts',
    },
    format: ['esm'],
    splitting: true,
    dts: types,
    clean: true,
  },
  {
    ...shared,
    entry: { index: 'src/index.ts' },
    format: ['cjs'],
    shims: true, // `import.meta.url`
    // Modules without a CommonJS form: `require` of those came to Node 20 only with its later versions.
    noExternal: ['chevrotain', /^@chevrotain\//, 'lodash-es'],
    dts: types,
  },
])
