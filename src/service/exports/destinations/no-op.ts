import * as z from 'zod'
import { defineDestination } from './destination.ts'

/** Computes the rows and writes them nowhere, for tests of intervals and queries. */
export const noOp = defineDestination({
  type: 'NoOp',
  summary: 'Computes the rows of each run and drops them.',
  config: z.object({ arg: z.string().nullable().optional() }),
  secrets: [],
  files: () => ({ format: 'JSONLines', compression: null, maxFileBytes: 64e6 }),
  steps: () => [],
  open: async () => ({ write: async () => {}, publish: async () => {}, discard: async () => {} }),
})
