import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'

// Requests and answers of a page of the documents.

export interface Example {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
  readonly status: number
  readonly answer: string
}

export const pageOf = (name: string): string => readFileSync(join(import.meta.dirname, `../../docs/${name}`), 'utf8')

export const httpExamples = (page: string): readonly Example[] =>
  [...page.matchAll(/```http\n([\s\S]*?)```/g)].map(([, text]): Example => {
    const [asked = '', said = ''] = text!.trim().split('\n\n')
    const [first = '', ...body] = asked.split('\n')
    const [status = '', ...answer] = said.split('\n')
    const [method = '', path = ''] = first.split(' ')
    return { method, path, body: body.length > 0 ? body.join('\n') : undefined, status: Number(status), answer: answer.join('\n') }
  })

/** `…` is any value. */
export const wanted = (value: unknown): unknown => {
  if (value === '…') return expect.anything()
  if (Array.isArray(value)) return value.map(wanted)
  return value !== null && typeof value === 'object'
    ? expect.objectContaining(Object.fromEntries(Object.entries(value).map(([name, one]) => [name, wanted(one)])))
    : value
}
