import type { DownloadFormat } from '../../../engine/execution/download.ts'
import { arrowMedia, csvMedia, formIn } from './forms.ts'

interface Form {
  readonly media: string
  readonly accepted: readonly string[]
  readonly extension: string
}

export const downloadForms: Readonly<Record<DownloadFormat, Form>> = {
  csv: { media: csvMedia, accepted: ['text/csv', 'text/*', '*/*'], extension: 'csv' },
  spreadsheet: { media: csvMedia, accepted: [], extension: 'csv' },
  jsonl: {
    media: 'application/x-ndjson',
    accepted: ['application/x-ndjson', 'application/jsonl', 'application/json', 'application/*'],
    extension: 'jsonl',
  },
  parquet: { media: 'application/vnd.apache.parquet', accepted: ['application/vnd.apache.parquet'], extension: 'parquet' },
  arrow: { media: arrowMedia, accepted: [arrowMedia], extension: 'arrows' },
}

const accepted = Object.fromEntries(Object.entries(downloadForms).map(([format, form]) => [format, form.accepted])) as Record<
  DownloadFormat,
  readonly string[]
>

export const wantedDownload = (accept: string | null): DownloadFormat => formIn(accept, accepted, 'csv')
