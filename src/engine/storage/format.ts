/** One migration step of a file's format; all its statements run in one transaction together with the new version. */
export interface Migration {
  readonly to: number
  statements(database: string): readonly string[]
}

/** The format of a database file. The file has its version in the row `format` of its table `meta(key, value)`. */
export interface FileFormat {
  readonly version: number
  /** Creates everything, including the `meta` row. */
  create(database: string): readonly string[]
  readonly migrations: readonly Migration[]
}
