import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import type * as z from 'zod'
import { routes } from '../../src/doors/http/routes.ts'

// A page says which answer it reads: `get<RoleAnswer>(api('roles/1/'))`. Each call whose path can be read from the source names the schema of its route.

const src = resolve(import.meta.dirname, '../../src')
const parse = (file: string) => ts.createSourceFile(file, readFileSync(join(src, file), 'utf8'), ts.ScriptTarget.ESNext, true)
const methods: Readonly<Record<string, string>> = { get: 'GET', post: 'POST', patch: 'PATCH', useList: 'GET', allOf: 'GET' }

/** The schemas by the names of their types. */
const schemas = new Map<string, unknown>()
for (const name of readdirSync(join(src, 'doors/answers'))) {
  const all: Record<string, unknown> = await import(join(src, 'doors/answers', name))
  for (const one of parse(`doors/answers/${name}`).statements) {
    const schema = ts.isTypeAliasDeclaration(one) && /\btypeof (\w+)/.exec(one.getText())?.[1]
    if (schema && all[schema]) schemas.set(one.name.text, all[schema])
  }
}

/** What a call asks: a path with a 1 for each thing in it, with what is before it where `api` adds that. Null: it cannot be read here. */
function pathsOf(given: ts.Expression): readonly string[] | null {
  if (ts.isCallExpression(given) && /(^|\.)api$/.test(given.expression.getText())) {
    const inner = given.arguments[0] && textOf(given.arguments[0])
    return inner == null ? null : [`api/projects/1/${inner}`, `api/organizations/1/${inner}`]
  }
  const text = textOf(given)
  return text?.startsWith('api/') ? [text] : null
}
function textOf(given: ts.Expression): string | null {
  if (ts.isStringLiteral(given) || ts.isNoSubstitutionTemplateLiteral(given)) return given.text.replace(/\?.*/, '')
  if (!ts.isTemplateExpression(given) || given.head.text === '') return null
  return [given.head.text, ...given.templateSpans.map(({ literal }) => `1${literal.text}`)].join('').replace(/\?.*/, '')
}

const answerOf = (method: string, path: string): unknown => {
  const parts = path.split('/').filter(Boolean)
  const fits = (pattern: string) => {
    const its = pattern.split('/').filter(Boolean)
    return its.length === parts.length && its.every((part, i) => part.startsWith(':') || part === parts[i])
  }
  return routes.find((one) => fits(one.path) && one.rows.has(method))?.rows.get(method)?.answer
}
/** A schema, and what it is a list or a page of. */
const within = (schema: unknown): unknown[] => {
  const { shape, element, options } = (schema ?? {}) as {
    shape?: { results?: z.ZodArray }
    element?: unknown
    options?: readonly unknown[]
  }
  const parts = [...(shape?.results ? [shape.results.element] : []), ...(element ? [element] : []), ...(options ?? [])]
  return [schema, ...parts.flatMap(within)]
}

test('pages name the schemas of the routes that they call', () => {
  const wrong: string[] = []
  let count = 0
  for (const name of readdirSync(join(src, 'web'), { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(name)) continue
    const visit = (node: ts.Node): void => {
      ts.forEachChild(node, visit)
      if (!ts.isCallExpression(node) || !node.typeArguments || !node.arguments[0]) return
      const method = methods[node.expression.getText()]
      const paths = method && pathsOf(node.arguments[0])
      const type = node.typeArguments[0]!.getText()
      const named = [...type.matchAll(/\w+Answer\b/g)].flatMap(([found]) => (schemas.has(found) ? [schemas.get(found)] : []))
      if (!method || !paths || named.length === 0) return
      count++
      const answers = paths.flatMap((path) => within(answerOf(method, path)))
      if (!named.some((one) => answers.includes(one))) wrong.push(`${name}: ${method} ${paths[0]} is read as ${type}`)
    }
    visit(parse(`web/${name}`))
  }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(60)
})
