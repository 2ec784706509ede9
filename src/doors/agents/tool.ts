import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import type { Scope } from '../../service/accounts/users/personal-keys.ts'
import type { ProjectFacts } from './answers.ts'
import type { Api } from './api.ts'

export interface ToolCall {
  readonly api: Api
  readonly signal: AbortSignal
  /** The project that was named, or the current one of the user. */
  project(id: number | undefined): Promise<ProjectFacts>
}

/** One tool: a name, small arguments, and what it asks of the API. */
export interface Tool<S extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: S
  /** What a key needs; tools that write are listed only for keys that have it. */
  readonly scope: Scope
  /** Its answer is a chart, for clients that show one. */
  readonly isChart?: true
  readonly run: (asked: z.output<S>, call: ToolCall) => Promise<CallToolResult>
}

export const defineTool = <S extends z.ZodObject>(tool: Tool<S>): Tool => tool as unknown as Tool

export const isWriting = ({ scope }: Tool): boolean => scope.endsWith(':write')

export const annotationsOf = (tool: Tool): ToolAnnotations => ({
  readOnlyHint: !isWriting(tool),
  destructiveHint: false,
  idempotentHint: !isWriting(tool),
  openWorldHint: false,
})
