import ts from 'typescript'

// What the published types export: each name with its declaration, in order of the names.

const exportsOf = (file: ts.SourceFile): ReadonlyMap<string, string> =>
  new Map(
    file.statements.flatMap((statement) => {
      if (!ts.isExportDeclaration(statement) || !statement.exportClause || !ts.isNamedExports(statement.exportClause)) return []
      return statement.exportClause.elements.map((one): [string, string] => [one.name.text, (one.propertyName ?? one.name).text])
    }),
  )

const namesOf = (statement: ts.Statement): readonly string[] => {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
  const name = (statement as Partial<ts.NamedDeclaration>).name
  return name && ts.isIdentifier(name) ? [name.text] : []
}

export function publicApi(declarations: string): string {
  const file = ts.createSourceFile('index.d.ts', declarations, ts.ScriptTarget.Latest, true)
  const byName = new Map<string, string[]>()
  for (const statement of file.statements)
    for (const name of namesOf(statement)) byName.set(name, [...(byName.get(name) ?? []), statement.getText(file)])
  return [...exportsOf(file)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, local]) => {
      const text = (byName.get(local) ?? [`// ${local} is declared elsewhere`]).join('\n')
      return `// ${name}${local === name ? '' : `, declared as ${local}`}\n${text}\n`
    })
    .join('\n')
}
