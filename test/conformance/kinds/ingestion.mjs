import { runIngestionCase } from '../../../dist/internal/ingestion.js'

// Payloads through a pipeline into a store of their own, and what is stored then.

export const ingestion = {
  takes: (test, file) => Array.isArray(test.events) && file.startsWith('ingestion_'),
  run: async (test) => ({ problems: await runIngestionCase(test) }),
}
