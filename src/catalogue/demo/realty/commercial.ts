import { type Estate, RENT_TERMS_EN, SALE_TERMS_EN, words } from './estate.ts';

export const COMMERCIAL: Estate = {
  category: 'коммерческая недвижимость',
  gender: 'n',
  weight: 5,
  rentShare: 0.7,
  area: [15, 600],
  metreShare: 0.7,
  rentPerMonth: 0.0075,
  sale: {
    ru: words(
      `
        Помещение свободного назначения, $area м²
        Офис $area м², $place
        Торговое помещение $area м²
        `,
      `
        Продаётся помещение $area м², $address, [первая линия|отдельный вход|цокольный этаж]
        [Готовый арендный бизнес|Помещение свободно], $area м², $place
        `,
      `
        [Под магазин, аптеку или кафе|Под офис или студию|Под пункт выдачи], мощность 15 кВт, [витринные окна|парковка у входа]
        [Высокий пешеходный поток|Рядом остановка и жилые дома], ремонт [сделан|под себя]
        `,
      `
        Прямая продажа, [НДС не облагается|возможна рассрочка]
        Показ в любой день
        `,
    ),
    en: words(
      `
        Commercial premises for sale, $area m²
        `,
      `
        Premises of $area m² $within, $address, separate entrance
        `,
      `
        Good for a shop, a cafe or an office, parking at the door
        Many people pass by, large windows
        `,
      SALE_TERMS_EN,
    ),
  },
  rent: {
    ru: words(
      `
        Сдам офис $area м²
        Аренда помещения, $area м², $place
        Склад в аренду, $area м²
        Торговая площадь $area м²
        `,
      `
        Сдаётся помещение $area м², $address, [отдельный вход|первая линия]
        Офис $area м² [в бизнес-центре|на первом этаже], $place
        `,
      `
        [Коммунальные включены|Интернет и охрана включены], парковка, [круглосуточный доступ|кондиционер]
        [Под магазин или услуги|Под склад и производство|Под офис или салон], ремонт [свежий|рабочий]
        `,
      `
        Арендные каникулы на время ремонта
        Прямая аренда, [без комиссии|долгосрочный договор]
        `,
    ),
    en: words(
      `
        Office for rent, $area m²
        `,
      `
        Office of $area m² $within, $address
        `,
      `
        Internet and security included, parking, air conditioning
        Round the clock access, freshly painted
        `,
      RENT_TERMS_EN,
    ),
  },
};
