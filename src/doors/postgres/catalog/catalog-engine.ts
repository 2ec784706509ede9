import type { Groups, ResultColumn } from '../session/answers.ts'
import type { Asker } from '../session/questions.ts'
import type { Token } from '../statements/lexer.ts'
import type { TypeName } from '../types/pg-types.ts'

export class CatalogEngines {
  async ask(_a: Asker, _t: readonly Token[], _m: { values: readonly (string | null)[] | null; types: readonly TypeName[]; signal: AbortSignal }): Promise<{ columns: readonly ResultColumn[]; groups: Groups }> {
    throw new Error('none')
  }
  close(): void {}
}
