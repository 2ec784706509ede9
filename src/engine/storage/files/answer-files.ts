import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { KeptAnswers, RunKey } from '../../execution/ports.ts'
import { filesOf } from '../project-storage.ts'

/**
 * Answers of async queries, each in a file of its project's folder. As a table value, an answer would take several times its size in
 * database memory.
 */
export function answerFiles(dataDir: string): KeptAnswers {
  const fileOf = ({ project_id, task_id }: RunKey) => join(filesOf(dataDir, project_id).answers, `${task_id}.json`)
  return {
    async keep(run, json) {
      const path = fileOf(run)
      const unfinished = `${path}.new`
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const file = await open(unfinished, 'w', 0o600)
      try {
        await file.writeFile(json)
        await file.datasync()
      } finally {
        await file.close()
      }
      await rename(unfinished, path)
    },

    read: (run) => readFile(fileOf(run), 'utf8').catch(() => null),

    async forget(run) {
      await rm(fileOf(run), { force: true })
    },

    async keepOnly(runs) {
      const known = new Set(runs.map(fileOf))
      for (const project of await readdir(join(dataDir, 'projects')).catch(() => [])) {
        const { answers } = filesOf(dataDir, project)
        const names = await readdir(answers).catch(() => [])
        for (const name of names) if (!known.has(join(answers, name))) await rm(join(answers, name), { force: true })
      }
    },
  }
}
