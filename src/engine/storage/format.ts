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

export interface FormatChange {
  readonly file: string
  readonly from: number
  readonly to: number
  /** The copy of the file as it was; null: none is kept. */
  readonly keptAs: string | null
}

/** A file is brought to the format of this version. */
export type FormatNotice =
  | ({ readonly kind: 'store-migrating' } & FormatChange)
  /** Every ten seconds, while it is copied and while its steps run. */
  | ({ readonly kind: 'store-migration-progress'; readonly done: number; readonly steps: number; readonly seconds: number } & Omit<
      FormatChange,
      'keptAs'
    >)
  | ({ readonly kind: 'store-migrated'; readonly seconds: number } & FormatChange)

export interface Migrating {
  /** Whether a copy of the file is kept beside it. Default: true. */
  readonly keepsCopy?: boolean | undefined
  readonly notice?: ((notice: FormatNotice) => void) | undefined
  /** Between two notices of progress. Default: ten seconds. */
  readonly progressMs?: number | undefined
}
