import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { WaymarkError } from '../../../errors/errors.ts'
import { withoutTrailingSlashes } from '../../../lib/text/without-trailing-slashes.ts'
import { folderPlace } from './folder.ts'
import type { Place, PlaceUse } from './place.ts'
import { s3Place } from './s3.ts'
import { tarPlace } from './tar.ts'

/** An address rather than a path. */
export const hasScheme = (text: string): boolean => /^[a-z][a-z\d+.-]{0,30}:\/\//i.test(text)

/** The name under which a place is noted: the same for the same place, however it was written. */
export const placeKey = (text: string): string => (text.startsWith('s3://') ? withoutTrailingSlashes(text.split('?')[0]!) : resolve(text))

/** `s3://bucket/prefix`, a file that ends with .tar, or a folder. */
export async function openPlace(text: string, use: PlaceUse): Promise<Place> {
  if (text.startsWith('s3://')) {
    if (!URL.canParse(text) || new URL(text).hostname === '')
      throw new WaymarkError('command-failed', { message: `${text} is not the address of a bucket: expected s3://BUCKET/PREFIX.` })
    return s3Place(new URL(text))
  }
  if (hasScheme(text))
    throw new WaymarkError('command-failed', {
      message: `${text}: a backup goes to a folder, to a file that ends with .tar, or to s3://BUCKET/PREFIX.`,
    })
  const path = resolve(text)
  if (path.endsWith('.tar')) {
    if (use === 'read') await mustExist(path)
    return tarPlace(path, use)
  }
  if (use === 'read') await mustExist(path)
  return folderPlace(path)
}

async function mustExist(path: string): Promise<void> {
  if (await stat(path).catch(() => null)) return
  throw new WaymarkError('command-failed', { message: `${path} does not exist.` })
}
