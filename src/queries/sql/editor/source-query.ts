/** The table that expressions of a query read. */
export function sourceTable(source: { readonly kind: string } | null | undefined): 'events' | 'persons' {
  return source?.kind === 'ActorsQuery' || source?.kind === 'PersonsNode' ? 'persons' : 'events'
}
