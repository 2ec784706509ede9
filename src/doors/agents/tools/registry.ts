import type { Tool } from '../tool.ts'
import { questionTools } from './ask.ts'
import { describeData, listProjects } from './describe.ts'
import { listEvents, listPeople, runSql } from './rows.ts'
import { addToDashboard, annotate, createCohort, getSaved, listSaved, saveInsight } from './saved.ts'

/** In the order in which clients show them. */
export const tools: readonly Tool[] = [
  describeData,
  listProjects,
  ...questionTools,
  listEvents,
  listPeople,
  runSql,
  listSaved,
  getSaved,
  saveInsight,
  addToDashboard,
  annotate,
  createCohort,
]
