import type * as z from 'zod'
import { chartAnswer, type ProjectFacts } from '../answers.ts'
import { type Query, questions } from '../questions.ts'
import { defineTool, type Tool, type ToolCall } from '../tool.ts'

/** The answer of the query endpoint. */
export const ask = ({ api, signal }: ToolCall, project: number, query: Query) =>
  api.call<Readonly<Record<string, unknown>>>({ method: 'POST', path: ['projects', project, 'query'], body: { query } }, signal)

/** Where the pages show a question that is not saved. */
const pageOfQuery = ({ api }: Pick<ToolCall, 'api'>, { id }: ProjectFacts, query: Query): string | null =>
  /^Web/.test(query.kind) ? api.page(id, 'web') : api.page(id, 'insights/new', { q: JSON.stringify(query) })

const toolOf = ([name, { title, description, input, queryOf }]: [string, (typeof questions)[keyof typeof questions]]): Tool =>
  defineTool({
    name,
    title,
    description: `${description} Answers with a table, a picture and the page.`,
    input: input as z.ZodObject,
    scope: 'query:read',
    isChart: true,
    run: async (asked, call) => {
      const project = await call.project(asked.project as number | undefined)
      const query = (queryOf as (asked: unknown) => Query)(asked)
      const answer = await ask(call, project.id, query)
      return chartAnswer(project, { query, answer, title }, pageOfQuery(call, project, query))
    },
  })

export const questionTools: readonly Tool[] = Object.entries(questions).map(toolOf)
