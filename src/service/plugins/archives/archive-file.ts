export interface ArchiveFile {
  readonly path: string
  read(): Promise<Buffer>
}
