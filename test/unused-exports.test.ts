import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

// A value is exported because another file imports it. What only its own file reads needs no export, and what nobody reads goes.

const root = resolve(import.meta.dirname, '..')
const isSource = (name: string) => /\.(ts|tsx|mjs)$/.test(name) && !/\.d\.m?ts$/.test(name)
const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => isSource(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name))

const hasWord = (node: ts.Node, kind: ts.SyntaxKind) =>
  ts.canHaveModifiers(node) && ts.getModifiers(node)?.some((modifier) => modifier.kind === kind) === true

/** The names of functions and constants that a file exports. */
const exportedBy = (tree: ts.SourceFile): string[] =>
  tree.statements
    .filter((one) => hasWord(one, ts.SyntaxKind.ExportKeyword) && !hasWord(one, ts.SyntaxKind.DefaultKeyword))
    .flatMap((one) => {
      if (ts.isFunctionDeclaration(one)) return [one.name!.text]
      if (!ts.isVariableStatement(one)) return []
      const names = (name: ts.BindingName): string[] =>
        ts.isIdentifier(name) ? [name.text] : name.elements.flatMap((part) => (ts.isBindingElement(part) ? names(part.name) : []))
      return one.declarationList.declarations.flatMap(({ name }) => names(name))
    })

test('each function and constant that a file exports is imported by another one', () => {
  const files = ['src', 'test', 'bench', 'build', 'docs'].flatMap(filesIn)
  const all = new Set(files)
  const fileOf = (from: string, specifier: string): string => {
    const path = relative(root, resolve(root, dirname(from), specifier))
    return [path, path.replace(/\.js$/, '.ts'), `${path}.ts`].find((one) => all.has(one)) ?? specifier
  }
  const exported = new Map<string, string[]>()
  const imported = new Set<string>()
  for (const file of files) {
    const tree = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ESNext)
    if (file.startsWith('src/')) exported.set(file, exportedBy(tree))
    const takes = (specifier: ts.Expression, names: readonly string[]) => {
      const of = fileOf(file, (specifier as ts.StringLiteral).text)
      for (const name of names) imported.add(`${of} ${name}`)
    }
    const named = (elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[]) =>
      elements.map((one) => (one.propertyName ?? one.name).text)
    const visit = (node: ts.Node): void => {
      if (ts.isImportDeclaration(node)) {
        const bindings = node.importClause?.namedBindings
        if (bindings) takes(node.moduleSpecifier, ts.isNamedImports(bindings) ? named(bindings.elements) : ['*'])
      } else if (ts.isExportDeclaration(node) && node.moduleSpecifier)
        takes(node.moduleSpecifier, node.exportClause && ts.isNamedExports(node.exportClause) ? named(node.exportClause.elements) : ['*'])
      else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && ts.isStringLiteral(node.arguments[0]!))
        takes(node.arguments[0]!, ['*'])
      ts.forEachChild(node, visit)
    }
    visit(tree)
  }
  const unused = [...exported]
    .filter(([file]) => file !== 'src/index.ts' && !imported.has(`${file} *`))
    .flatMap(([file, names]) => names.filter((name) => !imported.has(`${file} ${name}`)).map((name) => `${file}: ${name}`))
  expect(files.length).toBeGreaterThan(1_000)
  expect(unused).toEqual([])
})
