import { httpReference } from '../src/doors/http/reference/reference.ts'
import { differencesPage } from './differences-page.ts'
import { errorsPage } from './errors-page.ts'
import { floorsPicture } from './floors-picture.ts'
import { functionsPage } from './functions-page.ts'
import { limitsPage } from './limits-page.ts'
import { propertiesPage } from './properties-page.ts'

/** Pages that are written from the registries, by their file in this folder. A test holds each against its file. */
export const pages: Readonly<Record<string, () => string>> = {
  'differences.md': differencesPage,
  'errors.md': errorsPage,
  'functions.md': functionsPage,
  'pictures/floors.svg': floorsPicture,
  'http.md': httpReference,
  'limits.md': limitsPage,
  'properties.md': propertiesPage,
}
