import ts from 'typescript'
import { expect, test } from 'vitest'
import { files, sourceOf } from './harness/imports.ts'

/** Lines of the longest function. A longer one wants to be split along what it returns. */
const mostLines = 125

test('no function is longer than the longest of today', () => {
  const long = files.flatMap((file) => {
    const source = ts.createSourceFile(file, sourceOf(file), ts.ScriptTarget.Latest)
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body) {
        const lineOf = (at: number) => source.getLineAndCharacterOfPosition(at).line
        const first = lineOf(node.getStart(source))
        const lines = lineOf(node.end) - first + 1
        if (lines > mostLines) found.push(`${file}:${first + 1} has a function of ${lines} lines`)
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
    return found
  })
  expect(long).toEqual([])
})
