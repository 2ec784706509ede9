import type { KeptAnswers } from '../execution/ports.ts'

/** The answers of a directory in memory. */
export function answersInMemory(): KeptAnswers {
  const answers = new Map<string, string>()
  return {
    async keep({ task_id }, json) {
      answers.set(task_id, json)
    },
    read: async ({ task_id }) => answers.get(task_id) ?? null,
    async forget({ task_id }) {
      answers.delete(task_id)
    },
    async keepOnly(runs) {
      const known = new Set(runs.map(({ task_id }) => task_id))
      for (const id of answers.keys()) if (!known.has(id)) answers.delete(id)
    },
  }
}
