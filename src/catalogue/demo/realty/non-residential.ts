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

export const PLOTS: Estate = {
  category: 'участки',
  gender: 'm',
  weight: 6,
  rentShare: 0,
  area: [400, 2500],
  metreShare: 0,
  rentPerMonth: 0.001,
  sale: {
    ru: words(
      `
        Участок $plot, $km км от города
        Продам участок $plot
        Земельный участок $plot (ИЖС)
        Дача на участке $plot
        `,
      `
        Участок $plot, [ИЖС|СНТ|ДНП], $km км от центра, $city
        Земельный участок $plot $within, [ровный|прямоугольный|у леса]
        `,
      `
        [Электричество подключено|Столб у границы|Газ по улице], [скважина|центральный водопровод летом|колодец]
        Подъезд [асфальт|щебень, чистят зимой], [соседи построились|рядом озеро|лес в пяти минутах]
        `,
      `
        Документы готовы, [межевание сделано|собственность оформлена], [торг|без торга]
        Продажа от собственника, [покажу в выходные|координаты пришлю]
        `,
    ),
    en: words(
      `
        Land for sale, $plot
        `,
      `
        A plot of $plot, $km km from the centre of $city
        `,
      `
        Electricity is connected, there is a well
        Good road, a forest and a lake nearby
        `,
      SALE_TERMS_EN,
    ),
  },
  rent: { ru: words('', '', '', ''), en: words('', '', '', '') },
};
