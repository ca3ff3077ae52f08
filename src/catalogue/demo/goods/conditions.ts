import { lines } from '../ad.ts';
import type { Wear } from './kind.ts';

/** A condition, its effect on the price and the sentences of sellers about it. */
export interface Condition {
  readonly name: string;
  readonly weight: number;
  /** Share of the price when new. */
  readonly factor: readonly [from: number, to: number];
  readonly ru: readonly string[];
  readonly en: readonly string[];
}

const condition = (
  name: string,
  weight: number,
  factor: readonly [number, number],
  ru: string,
  en: string,
): Condition => ({ name, weight, factor, ru: lines(ru), en: lines(en) });

const NEW_EN = `
  Brand new
  New, never used
  New, in the original packaging
`;
const EXCELLENT_EN = `
  Excellent condition
  In perfect condition, as new
  Condition is excellent, hardly used
`;
const GOOD_EN = `
  Good condition, small signs of use
  Used, but in good condition
  Good condition for its age
`;
const FAIR_EN = `
  Shows its age, hence the price
  Signs of use are visible, see the photos
  Condition is fair, but it does its job
`;

export const CONDITIONS: Readonly<Record<Exclude<Wear, 'none'>, readonly Condition[]>> = {
  device: [
    condition(
      'новое',
      14,
      [0.88, 1],
      `
      Нов{ый/ая/ое/ые}, в упаковке
      Нов{ый/ая/ое/ые}, [не включал{ся/ась/ось/ись}|не распаковывал{ся/ась/ось/ись}]
      Абсолютно нов{ый/ая/ое/ые}, подарили, [не нуж{ен/на/но/ны}|уже есть так{ой/ая/ое/ие} же]
      `,
      NEW_EN,
    ),
    condition(
      'отличное',
      38,
      [0.6, 0.8],
      `
      Состояние [отличное|идеальное|как у нов{ого/ой/ого/ых}]
      Без царапин и сколов
      Состояние отличное, [следов использования почти нет|пользовались бережно]
      `,
      EXCELLENT_EN,
    ),
    condition(
      'хорошее',
      33,
      [0.42, 0.6],
      `
      Состояние хорошее, [есть мелкие царапины|есть следы использования]
      Есть [пара царапин|потёртости], на работу не влияет
      Б/у, работает [исправно|как надо|без сбоев]
      `,
      GOOD_EN,
    ),
    condition(
      'удовлетворительное',
      10,
      [0.22, 0.36],
      `
      Внешне [потрёпан{/а/о/ы}|не нов{/а/о/ы}], но работа{ет/ет/ет/ют}
      Есть [сколы и царапины|заметные следы использования], цена с учётом состояния
      Потёртости видны на фото, [всё работает|пользоваться можно]
      `,
      FAIR_EN,
    ),
    condition(
      'на запчасти',
      5,
      [0.08, 0.16],
      `
      Не работа{ет/ет/ет/ют}, [на запчасти|под восстановление]
      После [падения|залития], на запчасти
      Неисправ{ен/на/но/ны}, [продаю как есть|мастер сказал, что ремонт возможен]
      `,
      `
      Does not work, for parts only
      Broken, sold as is
      `,
    ),
  ],
  cloth: [
    condition(
      'новое',
      24,
      [0.7, 0.95],
      `
      Нов{ый/ая/ое/ые}, с биркой
      Нов{ый/ая/ое/ые}, не подошёл размер
      Абсолютно нов{ый/ая/ое/ые}, [ошиблись с размером|вернуть не успели]
      `,
      `
      New with tags
      Brand new, wrong size
      `,
    ),
    condition(
      'отличное',
      38,
      [0.4, 0.6],
      `
      Состояние [отличное|идеальное|как из магазина]
      В отличном состоянии, [надевал{ся/ась/ось/ись} пару раз|почти не ношен{/а/о/ы}]
      `,
      EXCELLENT_EN,
    ),
    condition(
      'хорошее',
      30,
      [0.22, 0.4],
      `
      Состояние хорошее, без дефектов
      Б/у, в хорошем состоянии
      Ношен{ый/ая/ое/ые}, но [крепк{ий/ая/ое/ие}|вид хороший]
      `,
      GOOD_EN,
    ),
    condition(
      'удовлетворительное',
      8,
      [0.1, 0.2],
      `
      Есть следы носки, [на дачу самое то|цена соответствующая]
      Потёртости есть, [зато недорого|отдаю дёшево]
      `,
      FAIR_EN,
    ),
  ],
  furniture: [
    condition(
      'новое',
      10,
      [0.85, 1],
      `
      Нов{ый/ая/ое/ые}, [в упаковке|не подош{ёл/ла/ло/ли} по размеру]
      Нов{ый/ая/ое/ые}, стоял{/а/о/и} неделю
      `,
      NEW_EN,
    ),
    condition(
      'отличное',
      36,
      [0.5, 0.72],
      `
      Состояние отличное
      В отличном состоянии, [без пятен и царапин|как из магазина]
      `,
      EXCELLENT_EN,
    ),
    condition(
      'хорошее',
      36,
      [0.3, 0.48],
      `
      Состояние хорошее, [без поломок|есть небольшие потёртости]
      Б/у, крепк{ий/ая/ое/ие}
      `,
      GOOD_EN,
    ),
    condition(
      'удовлетворительное',
      14,
      [0.12, 0.26],
      `
      Состояние на троечку, [на дачу пойдёт|на съёмную квартиру самое то]
      Есть потёртости и царапины, отдаю недорого
      `,
      FAIR_EN,
    ),
  ],
  plain: [
    condition(
      'новое',
      14,
      [0.85, 1],
      `
      Нов{ый/ая/ое/ые}, [не пригодил{ся/ась/ось/ись}|не пользовались]
      Нов{ый/ая/ое/ые}, [подарок, у нас уже есть|в упаковке]
      `,
      NEW_EN,
    ),
    condition(
      'отличное',
      38,
      [0.55, 0.78],
      `
      Состояние отличное
      В отличном состоянии, [пользовались мало|пользовались бережно]
      `,
      EXCELLENT_EN,
    ),
    condition(
      'хорошее',
      36,
      [0.36, 0.54],
      `
      Состояние хорошее
      Б/у, в хорошем состоянии
      Есть небольшие следы использования
      `,
      GOOD_EN,
    ),
    condition(
      'удовлетворительное',
      12,
      [0.16, 0.3],
      `
      Состояние среднее, [возраст виден|есть потёртости]
      Есть дефекты, [покажу на месте|всё видно на фото], цена ниже
      `,
      FAIR_EN,
    ),
  ],
};
