import { type Estate, RENT_TERMS_EN, SALE_TERMS_EN, words } from './estate.ts';

export const GARAGES: Estate = {
  category: 'гаражи',
  gender: 'm',
  weight: 6,
  rentShare: 0.3,
  area: [15, 36],
  metreShare: 0.16,
  rentPerMonth: 0.009,
  sale: {
    ru: words(
      `
        Гараж, $area м²
        Продам гараж $area м², $place
        Гараж в кооперативе, $area м²
        Машиноместо $area м²
        `,
      `
        [Капитальный|Кирпичный|Железобетонный] гараж $area м², $place
        Гараж в ГСК, $area м², [охрана круглые сутки|шлагбаум и камеры]
        `,
      `
        [Сухой погреб|Смотровая яма|Яма и погреб], свет [есть|220 и 380 В], ворота [утеплённые|металлические, два замка]
        [Крыша не течёт|Пол бетонный|Стеллажи остаются], заезд [свободный|чистят зимой]
        `,
      `
        Документы на руках, [торг|готов к сделке]
        Собственность, [земля в аренде|членская книжка]
        Показ по договорённости
        `,
    ),
    en: words(
      `
        Garage for sale, $area m²
        `,
      `
        Brick garage of $area m² near $place
        `,
      `
        Dry cellar, electricity, guarded area
        Concrete floor, wide gate, easy access
        `,
      SALE_TERMS_EN,
    ),
  },
  rent: {
    ru: words(
      `
        Сдам гараж, $area м²
        Гараж в аренду, $place
        `,
      `
        Сдаётся гараж $area м², $place
        Гараж $area м² на длительный срок, [охрана|сухой и тёплый]
        `,
      `
        [Под машину или склад|Под хранение вещей|Можно под мотоцикл], свет есть, [яма|без ямы]
        Подъезд удобный, [зимой чистят|асфальт], ключи сразу
        `,
      `
        Оплата помесячно, [залог небольшой|без залога]
        Сдаёт хозяин
        `,
    ),
    en: words(
      `
        Garage for rent, $area m²
        `,
      `
        Garage of $area m² near $place, dry and clean
        `,
      `
        For a car or for storage, electricity included
        Easy access, the snow is cleared in winter
        `,
      RENT_TERMS_EN,
    ),
  },
};
