import type { KeptAnswers } from '../../execution/ports.ts'
import type { Postgres } from './client.ts'

/** Answers of async queries, for whichever server is asked for them. */
export function answersInPostgres(postgres: Postgres): KeptAnswers {
  const table = `${postgres.schema}.cluster_answers`
  return {
    async keep({ project_id, task_id }, json) {
      await postgres.run(
        `INSERT INTO ${table} (task_id, project, answer) VALUES ($1, $2, $3) ON CONFLICT (task_id) DO UPDATE SET answer = EXCLUDED.answer`,
        [task_id, project_id, json],
      )
    },
    async read({ task_id }) {
      const [row] = await postgres.rows<{ answer: string }>(`SELECT answer FROM ${table} WHERE task_id = $1`, [task_id])
      return row?.answer ?? null
    },
    async forget({ task_id }) {
      await postgres.run(`DELETE FROM ${table} WHERE task_id = $1`, [task_id])
    },
    async keepOnly(runs) {
      await postgres.run(`DELETE FROM ${table} WHERE NOT (task_id = ANY($1::text[]))`, [runs.map(({ task_id }) => task_id)])
    },
  }
}
