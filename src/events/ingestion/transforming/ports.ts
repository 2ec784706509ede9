// What transformations need of others. Filled by the plugins of a project.

/** The value of a JSON text. */
export type PluginEvent = Readonly<Record<string, unknown>>

/** The transformations of a project. */
export interface Transformations {
  /** False: events are stored as they were sent, and nothing is asked. */
  isOn(): boolean
  /** The address of this server, for events. */
  siteUrl(): string
  /**
   * Passes events, as JSON texts, through the plugins. Null: a plugin dropped the event; undefined: it stays as it is. Does not reject for what a plugin does.
   */
  run(events: readonly string[]): Promise<readonly (PluginEvent | null | undefined)[]>
  /** The event as JSON, marked as one that the transformations did not change. */
  untouched(event: string): PluginEvent
  /** For the owner of the plugins. */
  report(message: string): void
}

/** What became of the records of a batch, as the log would store them. */
export interface TransformedRecords {
  readonly firstSeq: number
  readonly payloads: readonly string[]
}

export interface RecordRange {
  readonly firstSeq: number
  readonly count: number
}

/** Survives the process: what became of records whose transformation may have begun in an earlier process. */
export interface TransformFile {
  /** What an earlier process wrote. Records that were begun only have no result. */
  readonly begun: readonly RecordRange[]
  readonly results: readonly TransformedRecords[]
  begin(ranges: readonly RecordRange[]): Promise<void>
  write(results: readonly TransformedRecords[]): Promise<void>
  /** Records up to `seq` are in the store. */
  forget(seq: number): Promise<void>
}
