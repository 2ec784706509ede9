import { defineConfig } from 'tsup'

const shared = { target: 'node20', sourcemap: true, splitting: true, treeshake: true } as const

export default defineConfig([
  { ...shared, entry: { index: 'src/index.ts' }, format: ['esm', 'cjs'], dts: true, clean: true },
  { ...shared, entry: { cli: 'src/cli/main.ts' }, format: ['esm'], banner: { js: '#!/usr/bin/env node' } },
  // The server with its surroundings in reach, for the conformance runner; not part of the package.
  { ...shared, entry: { 'internal/world': 'test/conformance/world.ts' }, format: ['esm'] },
])
