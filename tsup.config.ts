import { defineConfig } from 'tsup'

// What is no dependency is bundled: loading the 800 files of these packages took half of an import's time. So is zod, which is one for the published types only. `apache-arrow` stays outside, whose tables
// applications get, and what has native code.
const inside = ['zod']
/** A file with one character that is not ASCII, be it in a comment, takes two bytes for each in the process that loads it. Source maps have the lines. */
const esbuildOptions = (options: { charset?: string; minifyWhitespace?: boolean }) => {
  options.charset = 'ascii'
  options.minifyWhitespace = true
}
const shared = { target: 'node20', sourcemap: true, noExternal: inside, esbuildOptions } as const
// What is marked @internal is no part of the published types.
const types = { entry: { index: 'src/index.ts' }, compilerOptions: { stripInternal: true, paths: {} } }

export default defineConfig([
  {
    ...shared,
    // internal/ is for the conformance runner, not part of the package: the server with its surroundings in reach, and the cases of ingestion.
    entry: {
      index: 'src/index.ts',
      'internal/world': 'test/conformance/world.ts',
      'internal/ingestion': 'test/events/ingestion/cases.ts',
      'internal/plugins': 'test/service/plugins/cases.ts',
    },
    format: ['esm'],
    splitting: true,
    dts: types,
    clean: ['!part-*.js', '!parts.json'], // what a server that runs may still load: build/parts.mjs
  },
  {
    ...shared,
    entry: { index: 'src/index.ts' },
    format: ['cjs'],
    shims: true, // `import.meta.url`
    dts: types,
  },
])
