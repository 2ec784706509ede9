import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Makes the names in a folder durable: a file that was synced can still lose its name in a power cut. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
