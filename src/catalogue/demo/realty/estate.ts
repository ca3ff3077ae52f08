import { type Gender, type Language, lines } from '../ad.ts';

export interface EstateWords {
  readonly titles: readonly string[];
  readonly facts: readonly string[];
  readonly about: readonly string[];
  readonly terms: readonly string[];
}

export interface Estate {
  readonly category: 'квартиры' | 'дома' | 'комнаты' | 'гаражи' | 'участки' | 'коммерческая недвижимость';
  readonly gender: Gender;
  readonly weight: number;
  readonly rentShare: number;
  /** Square metres; flats, houses and plots have their own rules. */
  readonly area: readonly [from: number, to: number];
  /** Price per metre relative to that of a flat in the same city. */
  readonly metreShare: number;
  /** Monthly rent as a share of the price. */
  readonly rentPerMonth: number;
  readonly sale: Readonly<Record<Language, EstateWords>>;
  readonly rent: Readonly<Record<Language, EstateWords>>;
}

export const words = (titles: string, facts: string, about: string, terms: string): EstateWords => ({
  titles: lines(titles),
  facts: lines(facts),
  about: lines(about),
  terms: lines(terms),
});

export const SALE_TERMS = `
  [Ипотека подходит|Подходит под ипотеку и маткапитал|Рассмотрим ипотеку], [торг уместен|быстрый выход на сделку]
  [Один взрослый собственник|Собственник, документы готовы], [обременений нет|никто не прописан]
  Показ [в любое время|по договорённости|вечером и в выходные], [звоните|пишите]
  Агентам просьба не беспокоить
  Продажа от собственника, [торг|без торга]
`;
export const SALE_TERMS_EN = `
  One owner, documents are ready, mortgage is possible
  Viewing [any day|by appointment], the price is negotiable
  Sold by the owner, no agents please
`;
export const RENT_TERMS = `
  [Залог в размере месячной платы|Залог можно разбить на два месяца], [счётчики отдельно|коммунальные включены]
  Сдаёт собственник, [без комиссии|агентов прошу не звонить]
  [Просмотр в любой день|Заезд сразу|Показ вечером]
`;
export const RENT_TERMS_EN = `
  Deposit of one month, bills are [included|extra]
  Rented by the owner, no commission
  Available now, viewing any day
`;
